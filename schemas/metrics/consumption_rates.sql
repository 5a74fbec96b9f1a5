-- How fast groups read their partitions.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_negative_rate: Buckets of time with a negative number of messages read.
-- rule negative_rate: messages_consumed < 0
-- rows_failing_eta_without_reason: Buckets of time without an estimated time to catch up, and without a reason why it
--   is unknown.
-- rule eta_without_reason: eta_high_ms IS NULL AND eta_unknown_reason IS NULL
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM consumption_rates WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, topic_id, bucket_ms,
  bucket_time)) AS num_repeated_keys,   :rules
FROM judged
