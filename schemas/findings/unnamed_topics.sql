-- Topics of partitions that have an owner and of which only the id is known.
SELECT group_id, CAST(NULL AS STRING) AS topic, topic_id AS topic_id, partition, CAST(NULL AS TIMESTAMP) AS at_time,
  'topic id ' || coalesce(topic_id, '?') || ': no record or snapshot has its name' AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
FROM {held ownership_intervals} AS stays
WHERE topic IS NULL
