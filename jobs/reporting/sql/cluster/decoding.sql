SELECT outcome, reason, type, value_version, num_records, share_of_type, first_record_time, last_record_time,
  is_new_this_week
FROM v_decode_coverage
WHERE cluster = {cluster}
ORDER BY rank
LIMIT 60
