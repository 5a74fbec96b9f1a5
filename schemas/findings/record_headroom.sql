-- Groups with a batch of records that fills more than 70 % of the largest that brokers accept, by the newest snapshot
-- or else by record_limit_bytes.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'its largest batch in ' || record_table || coalesce(', of ' || substring(CAST(record_time AS STRING), 1, 19), '')
    || ', has ' || CAST(batch_bytes AS STRING) || ' bytes; brokers accept up to ' || CAST(limit_bytes AS STRING) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(batch_bytes AS DOUBLE) AS harm
FROM record_headroom
WHERE cluster = :cluster AND CAST(batch_bytes AS BIGINT) * 10 > CAST(limit_bytes AS BIGINT) * 7
