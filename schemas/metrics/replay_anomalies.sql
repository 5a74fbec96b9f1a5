-- Records that contradict each other or Kafka's rules.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_critical: Anomalies that may make answers wrong. Partitions with as many owners as [[groups]] in the settings
--   declares do not count.
-- num_warning: Anomalies that are unusual but leave answers correct.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH checked AS (
  SELECT group_id, evidence_partition, assignment_offset, num_owned_twice, explode(checks) AS checked
  FROM assignment_audit WHERE cluster = :cluster
),
declared AS (
  SELECT DISTINCT group_id, evidence_partition, assignment_offset FROM checked
  WHERE checked.name = 'redundant' AND num_owned_twice = 0
),
judged AS (
  SELECT anomalies.*, kind = 'two_owners' AND declared.assignment_offset IS NOT NULL AS is_declared
  FROM replay_anomalies AS anomalies
  LEFT JOIN declared ON declared.group_id = anomalies.group_id
    AND declared.evidence_partition = anomalies.evidence_partition
    AND declared.assignment_offset = anomalies.record_offset
  WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, kind, record_offset,
  evidence_partition, message)) AS num_repeated_keys,   count(*) FILTER (WHERE severity = 'critical'
  AND NOT is_declared) AS num_critical,   count(*) FILTER (WHERE severity = 'warning') AS num_warning,   :rules
FROM judged
