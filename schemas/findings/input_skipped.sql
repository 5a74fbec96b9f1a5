-- Files and folders that were there and could not be read, until a later run reads something of the same folder.
WITH files AS (
  SELECT source_file, offsets_partition, run_id, skipped_reason,
    {offsets_partition offsets_partition} AS name
  FROM source_files
  WHERE cluster = :cluster
),
placed AS (
  SELECT files.*, CASE WHEN position(name IN source_file) > 0
      THEN substring(source_file, 1, position(name IN source_file) + length(name) - 1)
      ELSE source_file END AS folder
  FROM files
),
read_later AS (
  SELECT folder, max(run_id) AS run_id
  FROM placed
  WHERE skipped_reason IS NULL
  GROUP BY folder
),
skipped AS (
  SELECT placed.*, row_number() OVER (PARTITION BY source_file ORDER BY run_id DESC) AS place
  FROM placed
  WHERE skipped_reason IS NOT NULL
)
SELECT {about source_file}, {lasting},
  source_file || ': could not be read, and was skipped: ' || skipped_reason AS message,
  {records offsets_partition, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)}, 'certain' AS confidence, {harm 1}
FROM skipped
LEFT JOIN read_later ON read_later.folder = skipped.folder AND read_later.run_id > skipped.run_id
WHERE place = 1 AND read_later.run_id IS NULL
