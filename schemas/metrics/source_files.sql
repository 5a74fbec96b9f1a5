-- What each run read: files with counts, and checksums that show later whether a file has changed.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM source_files WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, run_id, offsets_partition, source_file)) AS
  num_repeated_keys
FROM judged
