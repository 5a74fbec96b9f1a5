SELECT offsets_partition, max_by(source_file, run_id) AS source_file
FROM source_files
WHERE cluster = {cluster}
GROUP BY offsets_partition
