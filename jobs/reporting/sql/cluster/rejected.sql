SELECT count(*) - count(byte_position) AS num_rejected, count(byte_position) AS num_damaged_ranges,
  CAST(sum(size_bytes) AS BIGINT) AS damaged_bytes,
  CAST(sum(num_records) FILTER (WHERE byte_position IS NOT NULL) AS BIGINT) AS damaged_records,
  coalesce(bool_or(is_num_records_estimated), FALSE) AS is_damage_estimated
FROM rejected_records
WHERE cluster = {cluster}
