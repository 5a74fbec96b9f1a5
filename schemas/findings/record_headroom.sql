-- Groups whose newest record fills more than 70 % of record_limit_bytes.
WITH sizes AS (
  SELECT group_id, offsets_partition, record_offset, record_bytes,
    row_number() OVER (PARTITION BY group_id ORDER BY record_offset DESC) AS place
  FROM classic_group_metadata
  WHERE cluster = :cluster AND NOT is_tombstone
)
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'its newest record has ' || CAST(record_bytes AS STRING) || ' bytes; brokers accept up to :record_limit_bytes' AS message,
  offsets_partition AS evidence_partition, record_offset AS evidence_first_offset,
  record_offset AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(record_bytes AS DOUBLE) AS harm
FROM sizes
WHERE place = 1 AND CAST(record_bytes AS BIGINT) * 10 > CAST(:record_limit_bytes AS BIGINT) * 7
