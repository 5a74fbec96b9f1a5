-- Ends of partitions as captured.
-- num_rows: Rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_snapshots: Times at which they were captured.
-- num_without_end: Partitions whose end offset was left out.
-- rows_failing_end_before_start: Partitions that end before they start.
-- rule end_before_start: log_end_offset < log_start_offset
WITH judged AS (
  SELECT * FROM topic_snapshots WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, captured_time, topic, partition)) AS
  num_repeated_keys,   count(DISTINCT captured_time) AS num_snapshots,   count(*) FILTER (WHERE log_end_offset IS
  NULL) AS num_without_end,   :rules
FROM judged
