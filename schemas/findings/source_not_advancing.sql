-- What brought nothing new for max_source_age_hours before the run started, whatever the as-of time: every source; or
-- the log, while snapshots go on. For as long there must have been runs that could have read something newer: who looks
-- at an old copy for the first time has no source that stopped.
WITH captured AS (
  -- A snapshot of the future says nothing of whether the source goes on.
  SELECT run_id, topic, captured_time
  FROM topic_snapshots
  WHERE cluster = :cluster AND captured_time <= :started_time
),
counted AS (
  SELECT started_time, explode(ingest_counts) AS counts FROM runs WHERE cluster = :cluster
),
--- Offsets partitions of which a run of this time read records after all those that were read before.
advanced AS (
  SELECT counts.offsets_partition AS offsets_partition
  FROM counted
  GROUP BY counts.offsets_partition
  HAVING max(counts.last_offset) > coalesce(
    max(CASE WHEN started_time < :max_source_age_hours_before_start THEN counts.last_offset END), -1)
),
earlier AS (
  SELECT count(*) AS num_earlier FROM runs
  WHERE cluster = :cluster AND started_time < :max_source_age_hours_before_start
),
read_lately AS (
  SELECT (SELECT count(*) FROM advanced) AS num_partitions, (
    SELECT count(*) FROM captured JOIN runs ON runs.run_id = captured.run_id AND runs.cluster = :cluster
    WHERE captured_time = (SELECT max(captured_time) FROM captured)
      AND started_time >= :max_source_age_hours_before_start
  ) AS num_snapshots
),
newest AS (
  SELECT (SELECT max(to_time) FROM history_coverage WHERE cluster = :cluster) AS log_time,
    (SELECT max(captured_time) FROM captured) AS snapshot_time,
    (SELECT max(captured_time) FROM captured WHERE topic = '__consumer_offsets') AS log_end_time
),
aged AS (
  SELECT newest.*, coalesce(greatest(log_time, snapshot_time), log_time, snapshot_time) AS newest_time,
    coalesce(log_time < :max_source_age_hours_before_start, TRUE) AS is_log_old,
    coalesce(snapshot_time < :max_source_age_hours_before_start, TRUE) AS are_snapshots_old,
    coalesce(log_end_time < :max_source_age_hours_before_start, TRUE) AS is_log_end_old
  FROM newest CROSS JOIN earlier
  WHERE :max_source_age_hours > 0 AND num_earlier > 0
),
listed AS (
  SELECT 'the newest record or snapshot is of ' || {second newest_time}
      || ', more than :max_source_age_hours h before the run, and in that time no run read a newer one: has the source '
      || 'stopped?' AS message
  FROM aged CROSS JOIN read_lately
  WHERE num_partitions = 0 AND num_snapshots = 0 AND is_log_old AND are_snapshots_old
    AND newest_time IS NOT NULL
  UNION ALL
  SELECT 'the newest record of the log is of ' || {second log_time}
      || ', more than :max_source_age_hours h before the run, while snapshots go on: has the copy of the log '
      || 'stopped?'
  FROM aged CROSS JOIN read_lately
  WHERE num_partitions = 0 AND is_log_old AND NOT are_snapshots_old AND is_log_end_old AND log_time IS NOT NULL
)
SELECT {about '__consumer_offsets'}, {lasting}, message, {no_evidence}, 'certain' AS confidence, {harm 1}
FROM listed
