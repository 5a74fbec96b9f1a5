SELECT offsets_partition, from_record_offset, to_record_offset, reason, num_records, is_num_records_estimated,
source_file,
  byte_position, size_bytes
FROM rejected_records
WHERE cluster = {cluster} AND byte_position IS NOT NULL
ORDER BY offsets_partition, from_record_offset NULLS LAST, source_file, byte_position
