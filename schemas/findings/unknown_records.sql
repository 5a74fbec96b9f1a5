-- Records of a newer release.
SELECT CAST(NULL AS STRING) AS group_id, '__consumer_offsets-' || CAST(offsets_partition AS STRING) AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'record type ' || coalesce(CAST(record_type AS STRING), 'unknown') || ': ' || reason AS message,
  offsets_partition AS evidence_partition, record_offset AS evidence_first_offset,
  record_offset AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
FROM rejected_records
WHERE cluster = :cluster AND byte_position IS NULL AND reason IN ('unknown_record_type', 'unknown_value_version')
