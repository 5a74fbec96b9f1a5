SELECT offsets_partition, record_offset, record_time, part, reason, field, detail, source_file
FROM rejected_records
WHERE cluster = {cluster} AND byte_position IS NULL
ORDER BY offsets_partition, record_offset NULLS LAST, from_record_offset NULLS LAST
