-- What records say that cannot be, with its own severity. Partitions of a group may have as many owners as
-- [[groups]] in the settings declares; where an assignment gives them more, the line says what is declared.
WITH owned_again AS (
  SELECT assignments.group_id, assignments.evidence_partition, assignment_offset, num_owned_twice,
    explode(checks) AS checked
  FROM assignment_audit AS assignments
  JOIN (
    SELECT DISTINCT group_id, evidence_partition, record_offset FROM replay_anomalies
    WHERE cluster = :cluster AND kind = 'two_owners'
  ) AS doubts ON doubts.group_id = assignments.group_id AND doubts.record_offset = assignments.assignment_offset
    AND doubts.evidence_partition = assignments.evidence_partition
  WHERE assignments.cluster = :cluster
),
declared AS (
  SELECT group_id, evidence_partition, assignment_offset, min(num_owned_twice) AS num_owned_twice,
    max(checked.detail) AS detail
  FROM owned_again
  WHERE checked.name = 'redundant'
  GROUP BY group_id, evidence_partition, assignment_offset
)
SELECT anomalies.group_id,
  CASE WHEN anomalies.group_id IS NULL
    THEN {offsets_partition anomalies.evidence_partition} END AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, record_time AS at_time,
  {day record_time} AS event, record_time AS last_time,
  message || coalesce('; redundancy: ' || detail, '') || ' (' || kind || ')' AS message,
  anomalies.evidence_partition, evidence_first_offset, evidence_last_offset, confidence, severity,
  CAST(1 AS DOUBLE) AS harm
FROM replay_anomalies AS anomalies
LEFT JOIN declared ON kind = 'two_owners' AND {same_group declared, anomalies}
  AND declared.assignment_offset = anomalies.record_offset
WHERE cluster = :cluster AND coalesce(num_owned_twice, 1) > 0
