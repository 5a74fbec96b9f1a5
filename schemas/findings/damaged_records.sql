-- Damaged bytes, worst first.
SELECT {about {offsets_partition offsets_partition}}, {lasting},
  coalesce(source_file, 'a batch of the live log') || ', byte ' || coalesce(CAST(byte_position AS STRING), '?') || ': '
    || reason || ', ' || {counted num_records, ' record', ' records'} AS message,
  {records offsets_partition, from_record_offset, to_record_offset},
  CASE WHEN is_num_records_estimated THEN 'likely' ELSE 'certain' END AS confidence, {harm num_records}
FROM rejected_records
WHERE cluster = :cluster AND byte_position IS NOT NULL
