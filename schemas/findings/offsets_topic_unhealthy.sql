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
SELECT {about {offsets_partition offsets_partition}}, {lasting},
  'offsets partition ' || CAST(offsets_partition AS STRING) || ': ' || CAST(num_bytes AS STRING) || ' bytes in '
    || {counted num_files, ' segment', ' segments'} || ': has its cleaner stopped?' AS message,
  {records offsets_partition, first_offset, last_offset}, 'likely' AS confidence, {harm num_bytes}
FROM newest
WHERE place = 1 AND num_bytes > :offsets_partition_limit_bytes
