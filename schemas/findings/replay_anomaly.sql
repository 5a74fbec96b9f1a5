-- What records say that cannot be, with its own severity.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, record_time AS at_time,
  kind || ': ' || message AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  severity, CAST(1 AS DOUBLE) AS harm
FROM replay_anomalies
WHERE cluster = :cluster
