-- Assignments that bear the mark of a known defect of Kafka.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, record_time AS at_time,
  substring(CAST(record_time AS STRING), 1, 10) AS event, record_time AS last_time,
  known_defect || coalesce(' (' || assignor || ')', '') || coalesce(': ' || reason, '') AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(num_different, 0) AS DOUBLE) AS harm
FROM assignment_audit
WHERE cluster = :cluster AND known_defect IS NOT NULL
