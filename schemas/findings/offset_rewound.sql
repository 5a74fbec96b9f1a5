-- Partitions whose offset moved back, unexplained, at the as-of time.
SELECT group_id, topic, partition, CAST(NULL AS TIMESTAMP) AS at_time,
  coalesce(topic, '?') || '-' || CAST(partition AS STRING) || ': ' || reason AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(lag_floor, 0) AS DOUBLE) AS harm
FROM group_verdicts
WHERE cluster = :cluster AND partition IS NOT NULL AND own_verdict = 'REWIND'
  AND as_of_time = (
    SELECT max(as_of_time) FROM group_verdicts WHERE cluster = :cluster AND as_of_time <= :as_of_time
  )
