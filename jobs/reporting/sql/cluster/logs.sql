SELECT offsets_partition, max_by(source_file, concat(run_id, ' ', source_file)) AS source_file
FROM source_files
WHERE cluster = {cluster} AND skipped_reason IS NULL
GROUP BY offsets_partition
