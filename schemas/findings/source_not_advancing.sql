-- What brought nothing new for max_source_age_hours before the run started, whatever the as-of time: every source; the
-- log, while snapshots go on; an offsets partition, while snapshots show that it goes on. For as long there must have
-- been runs that could have read something newer: who looks at an old copy for the first time has no source that stopped.
WITH known AS (
  SELECT offsets_partition, max(last_offset) AS last_offset, max(to_time) AS to_time
  FROM history_coverage
  WHERE cluster = :cluster
  GROUP BY offsets_partition
),
captured AS (
  -- A snapshot of the future says nothing of whether the source goes on.
  SELECT run_id, topic, partition, captured_time, log_start_offset, log_end_offset
  FROM topic_snapshots
  WHERE cluster = :cluster AND captured_time <= :started_time
),
counted AS (
  SELECT started_time, explode(ingest_counts) AS counts FROM runs WHERE cluster = :cluster
),
-- Offsets partitions of which a run of this time read records after all those that were read before.
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
  SELECT (SELECT max(to_time) FROM known) AS log_time, (SELECT max(captured_time) FROM captured) AS snapshot_time,
    (SELECT max(captured_time) FROM captured WHERE topic = '__consumer_offsets') AS log_end_time
),
aged AS (
  SELECT newest.*, coalesce(log_time < :max_source_age_hours_before_start, TRUE) AS is_log_old,
    coalesce(snapshot_time < :max_source_age_hours_before_start, TRUE) AS are_snapshots_old,
    coalesce(log_end_time < :max_source_age_hours_before_start, TRUE) AS is_log_end_old
  FROM newest CROSS JOIN earlier
  WHERE :max_source_age_hours > 0 AND num_earlier > 0
),
missing AS (
  SELECT partition, min(captured_time) AS since_time, max(log_end_offset) AS log_end_offset,
    max(known.last_offset) AS last_offset, max(to_time) AS to_time
  FROM captured
  LEFT JOIN known ON known.offsets_partition = captured.partition
  WHERE topic = '__consumer_offsets' AND log_end_offset - 1 > coalesce(known.last_offset, -1)
    AND log_end_offset > coalesce(log_start_offset, 0)
    AND partition NOT IN (SELECT offsets_partition FROM advanced WHERE offsets_partition IS NOT NULL)
  GROUP BY partition
),
listed AS (
  SELECT 'the newest record or snapshot is of '
      || substring(CAST(coalesce(greatest(log_time, snapshot_time), log_time, snapshot_time) AS STRING), 1, 19)
      || ', more than :max_source_age_hours h before the run, and in that time no run read a newer one: has the source '
      || 'stopped?' AS message,
    CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
    CAST(NULL AS BIGINT) AS evidence_last_offset, CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
  FROM aged CROSS JOIN read_lately
  WHERE num_partitions = 0 AND num_snapshots = 0 AND is_log_old AND are_snapshots_old AND coalesce(log_time, snapshot_time) IS NOT NULL
  UNION ALL
  SELECT 'the newest record of the log is of ' || substring(CAST(log_time AS STRING), 1, 19)
      || ', more than :max_source_age_hours h before the run, while snapshots go on: has the copy of the log '
      || 'stopped?', CAST(NULL AS INT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS STRING), 1
  FROM aged CROSS JOIN read_lately
  WHERE num_partitions = 0 AND is_log_old AND NOT are_snapshots_old AND is_log_end_old AND log_time IS NOT NULL
  UNION ALL
  SELECT 'offsets partition ' || CAST(partition AS STRING) || ': '
      || coalesce('known up to record ' || CAST(last_offset AS STRING) || ' of ' || substring(CAST(to_time AS STRING),
        1, 19), 'none of its records is known')
      || ', but since ' || substring(CAST(since_time AS STRING), 1, 19) || ' snapshots show more, '
      || CAST(log_end_offset - coalesce(last_offset + 1, 0) AS STRING) || ' by now: has its copy stopped?',
    partition, coalesce(last_offset + 1, 0), log_end_offset - 1,
    CASE WHEN last_offset IS NULL THEN 'warning' END, CAST(log_end_offset - coalesce(last_offset, 0) AS DOUBLE)
  FROM missing CROSS JOIN aged
  WHERE since_time < :max_source_age_hours_before_start AND NOT (is_log_old AND are_snapshots_old)
)
SELECT CAST(NULL AS STRING) AS group_id,
  '__consumer_offsets-' || CAST(evidence_partition AS STRING) AS subject, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time, message, evidence_partition, evidence_first_offset, evidence_last_offset,
  'certain' AS confidence, severity, harm
FROM listed
