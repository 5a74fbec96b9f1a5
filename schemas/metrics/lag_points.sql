-- Lag at each snapshot.
-- num_rows: Rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_unknown: Points whose lag is unknown.
-- longest_time_lag_ms: The largest time lag; NULL: none is known.
-- rows_failing_beyond_end: Points whose committed offset lies above the end of the log.
-- rule beyond_end: committed_beyond_end
-- rows_failing_lost_messages: Points whose committed offset lies below the start of the log.
-- rule lost_messages: lost_messages > 0
-- rows_failing_lag_below_zero: Points whose lag_floor is below 0.
-- rule lag_below_zero: lag_floor < 0
-- rows_failing_unknown_without_reason: Points without a lag and without a reason.
-- rule unknown_without_reason: lag_raw IS NULL AND unknown_reason IS NULL
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM lag_points WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, snapshot_time, group_id, topic, topic_id,
  partition)) AS num_repeated_keys,   count(*) FILTER (WHERE unknown_reason IS NOT NULL) AS num_unknown,
  max(time_lag_ms) AS longest_time_lag_ms,   :rules
FROM judged
