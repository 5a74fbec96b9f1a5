-- Records and bytes that could not be decoded.
-- num_rows: Number of rows.
-- num_records: Number of records in these rows: a row may be a whole batch.
-- num_unknown: Records of types or versions that this release of Groupscope does not know.
-- rows_failing_malformed: Records and batches that are malformed.
-- rule malformed warning as rejected_records damaged_records: reason NOT IN ('unknown_record_type',
--   'unknown_value_version')
SELECT count(*) AS num_rows, coalesce(sum(num_records), 0) AS num_records,
  count(*) FILTER (WHERE reason IN ('unknown_record_type', 'unknown_value_version')) AS num_unknown, :rules
FROM judged
