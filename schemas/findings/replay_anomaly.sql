-- What records say that cannot be, with its own severity.
SELECT group_id,
  CASE WHEN group_id IS NULL THEN '__consumer_offsets-' || CAST(evidence_partition AS STRING) END AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, record_time AS at_time,
  substring(CAST(record_time AS STRING), 1, 10) AS event, record_time AS last_time,
  message || ' (' || kind || ')' AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  severity, CAST(1 AS DOUBLE) AS harm
FROM replay_anomalies
WHERE cluster = :cluster
