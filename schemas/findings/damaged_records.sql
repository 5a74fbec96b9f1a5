-- Damaged bytes, worst first.
SELECT CAST(NULL AS STRING) AS group_id, '__consumer_offsets-' || CAST(offsets_partition AS STRING) AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  coalesce(source_file, 'a batch of the live log') || ', byte ' || coalesce(CAST(byte_position AS STRING), '?') || ': '
    || reason || ', ' || CAST(num_records AS STRING)
    || CASE num_records WHEN 1 THEN ' record' ELSE ' records' END AS message,
  offsets_partition AS evidence_partition, from_record_offset AS evidence_first_offset,
  to_record_offset AS evidence_last_offset,
  CASE WHEN is_num_records_estimated THEN 'likely' ELSE 'certain' END AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(num_records AS DOUBLE) AS harm
FROM rejected_records
WHERE cluster = :cluster AND byte_position IS NOT NULL
