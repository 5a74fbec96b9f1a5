-- Partitions by number: every one that the group owned, committed or is judged by, and how it stands.
WITH judged AS (
  SELECT group_id, coalesce(topic, topic_id, '?') AS name, partition, own_verdict, burrow_verdict, rule, reason,
    since_time, last_commit_time, lag, time_lag_ms
  FROM group_verdicts
  WHERE cluster = {cluster} AND group_id IN ({groups}) AND partition IS NOT NULL
    AND as_of_time = (SELECT max(as_of_time) FROM group_verdicts WHERE cluster = {cluster} AND as_of_time <= {as_of})
),
measured AS (
  SELECT group_id, name, partition, max(snapshot_time) AS lag_at, unnest(arg_max(row_then, snapshot_time))
  FROM (
    SELECT group_id, coalesce(topic, topic_id, '?') AS name, partition, snapshot_time,
      {'log_end_offset': log_end_offset, 'unknown_reason': unknown_reason, 'lag': lag, 'time_lag_ms': time_lag_ms,
        'committed_offset': committed_offset} AS row_then
    FROM lag_points
    WHERE cluster = {cluster} AND group_id IN ({groups}) AND snapshot_time <= {as_of}
  ) AS every
  GROUP BY group_id, name, partition
),
committed AS (
  SELECT group_id, coalesce(topic, topic_id, '?') AS name, partition, committed_offset,
    coalesce(last_commit_time, commit_time, from_time) AS commit_time
  FROM offset_history
  WHERE cluster = {cluster} AND group_id IN ({groups}) AND to_time IS NULL
),
expiring AS (
  SELECT group_id, coalesce(topic, topic_id, '?') AS name, partition, expires_time
  FROM expiry_forecast
  WHERE cluster = {cluster} AND group_id IN ({groups})
    AND as_of_time = (SELECT max(as_of_time) FROM expiry_forecast WHERE cluster = {cluster} AND as_of_time <= {as_of})
),
known AS (
  SELECT group_id, name, partition FROM judged
  UNION
  SELECT group_id, name, partition FROM measured
  UNION
  SELECT DISTINCT group_id, coalesce(topic, topic_id, '?'), partition FROM ownership_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION
  SELECT DISTINCT group_id, coalesce(topic, topic_id, '?'), partition FROM partition_moves
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION
  SELECT DISTINCT group_id, coalesce(topic, topic_id, '?'), partition FROM offset_history
  WHERE cluster = {cluster} AND group_id IN ({groups})
),
standing AS (
  SELECT known.group_id, known.name, known.partition, coalesce(measured.lag, judged.lag) AS lag, lag_at,
    coalesce(measured.time_lag_ms, judged.time_lag_ms) AS time_lag_ms, own_verdict, burrow_verdict, rule, reason,
    since_time, coalesce(committed.committed_offset, measured.committed_offset) AS committed_offset,
    coalesce(committed.commit_time, judged.last_commit_time) AS commit_time, log_end_offset,
    CASE WHEN coalesce(measured.lag, judged.lag) IS NULL THEN coalesce(unknown_reason, CASE
        WHEN coalesce(committed.committed_offset, measured.committed_offset) IS NULL THEN 'no_commit'
        ELSE 'no_snapshot' END) END AS unknown_reason, expires_time
  FROM known
  LEFT JOIN judged USING (group_id, name, partition)
  LEFT JOIN measured USING (group_id, name, partition)
  LEFT JOIN committed USING (group_id, name, partition)
  LEFT JOIN expiring USING (group_id, name, partition)
  WHERE known.partition IS NOT NULL
  QUALIFY row_number() OVER (
    PARTITION BY known.group_id, known.name, known.partition
    ORDER BY CASE own_verdict WHEN 'OK' THEN 1 ELSE 0 END, commit_time DESC NULLS LAST
  ) = 1
)
SELECT standing.*, CAST(row_number() OVER (PARTITION BY group_id ORDER BY name, partition) AS INT) - 1 AS place
FROM standing
