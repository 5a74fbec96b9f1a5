-- Records that contradict each other or Kafka's rules.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_critical: Anomalies that may make answers wrong.
-- num_warning: Anomalies that are unusual but leave answers correct.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM replay_anomalies WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, kind, record_offset,
  evidence_partition, message)) AS num_repeated_keys,   count(*) FILTER (WHERE severity = 'critical') AS
  num_critical,   count(*) FILTER (WHERE severity = 'warning') AS num_warning,   :rules
FROM judged
