SELECT offsets_partition, record_offset, record_time, part, reason, field, detail, num_records, source_file
FROM rejected_records
WHERE cluster = {cluster}
ORDER BY offsets_partition, record_offset NULLS LAST, from_offset NULLS LAST
