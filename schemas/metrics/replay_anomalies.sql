-- Records that contradict each other or Kafka's rules.
-- num_critical: Anomalies that may make answers wrong. Partitions with as many owners as [[groups]] in the settings
--   declares do not count.
-- limit num_critical warning as replay_anomaly: 0, rows by WITH checked AS (SELECT group_id, evidence_partition,
--   assignment_offset, num_owned_twice, explode(checks) AS checked FROM assignment_audit WHERE cluster = :cluster),
--   declared AS (SELECT DISTINCT group_id, evidence_partition, assignment_offset FROM checked WHERE checked.name =
--   'redundant' AND num_owned_twice = 0) SELECT anomalies.* FROM replay_anomalies AS anomalies LEFT JOIN declared ON
--   kind = 'two_owners' AND declared.group_id = anomalies.group_id AND declared.evidence_partition =
--   anomalies.evidence_partition AND declared.assignment_offset = anomalies.record_offset WHERE cluster = :cluster AND
--   severity = 'critical' AND declared.assignment_offset IS NULL
-- num_warning: Anomalies that are unusual but leave answers correct.
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
SELECT {keys}, count(*) FILTER (WHERE severity = 'critical' AND NOT is_declared) AS num_critical,
  count(*) FILTER (WHERE severity = 'warning') AS num_warning, :rules
FROM judged
