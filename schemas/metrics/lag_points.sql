-- Lag at each snapshot.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- limit num_repeated_keys critical: 0
-- num_unknown: Points whose lag is unknown.
-- longest_time_lag_ms: The largest time lag; NULL if none is known.
-- rows_failing_beyond_end: Points whose committed offset is above the log end offset.
-- rule beyond_end warning as offset_beyond_end odd_commits offsets_reset: committed_beyond_end
-- rows_failing_lost_messages: Points whose committed offset is below the log start offset.
-- rule lost_messages info as messages_lost: lost_messages > 0
-- rows_failing_lag_below_zero: Points whose lag in messages (lag, which is never negative) is below 0.
-- rule lag_below_zero critical: lag < 0
-- rows_failing_unknown_without_reason: Points without lag_raw (lag in messages, may be negative) and without a reason.
-- rule unknown_without_reason critical: lag_raw IS NULL AND unknown_reason IS NULL
WITH judged AS (
  SELECT * FROM lag_points WHERE cluster = :cluster
),
snapshots AS (
  SELECT snapshot_time, row_number() OVER (ORDER BY snapshot_time) AS number
  FROM (SELECT DISTINCT snapshot_time FROM lag_points WHERE cluster = :cluster) AS taken
),
marked AS (
  SELECT count(*) AS num_points, bit_or(CAST(pow(2, number % 60) AS BIGINT)) AS bits
  FROM lag_points AS point JOIN snapshots ON snapshots.snapshot_time = point.snapshot_time
  WHERE cluster = :cluster
  GROUP BY group_id, topic, topic_id, partition, number - number % 60
)
SELECT count(*) AS num_rows, (SELECT coalesce(sum(num_points - bit_count(bits)), 0) FROM marked) AS num_repeated_keys,
  count(*) FILTER (WHERE unknown_reason IS NOT NULL) AS num_unknown,
  max(time_lag_ms) AS longest_time_lag_ms, :rules
FROM judged
