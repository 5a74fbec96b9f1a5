-- Offsets partitions whose segments in the newest ingest of them are larger than offsets_partition_limit_bytes.
WITH listed AS (
  SELECT offsets_partition, run_id, CAST(sum(size_bytes) AS BIGINT) AS num_bytes, count(*) AS num_files,
    min(first_offset) AS first_offset, max(last_offset) AS last_offset
  FROM source_files
  WHERE cluster = :cluster AND kind = 'segments' AND skipped_reason IS NULL
  GROUP BY offsets_partition, run_id
),
newest AS (
  SELECT listed.*, row_number() OVER (PARTITION BY offsets_partition ORDER BY run_id DESC) AS place
  FROM listed
)
SELECT CAST(NULL AS STRING) AS group_id, '__consumer_offsets-' || CAST(offsets_partition AS STRING) AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'offsets partition ' || CAST(offsets_partition AS STRING) || ': ' || CAST(num_bytes AS STRING) || ' bytes in '
    || CAST(num_files AS STRING)
    || CASE num_files WHEN 1 THEN ' segment' ELSE ' segments' END || ': has its cleaner stopped?' AS message,
  offsets_partition AS evidence_partition, first_offset AS evidence_first_offset, last_offset AS evidence_last_offset,
  'likely' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(num_bytes AS DOUBLE) AS harm
FROM newest
WHERE place = 1 AND num_bytes > :offsets_partition_limit_bytes
