-- Records that no release of Kafka writes.
SELECT {about {offsets_partition offsets_partition}}, {lasting},
  'record type ' || coalesce(CAST(record_type AS STRING), 'unknown') || ': ' || reason || ' in its ' || part
    || coalesce(', field ' || field, '') AS message,
  {records offsets_partition, record_offset, record_offset}, 'certain' AS confidence, {harm 1}
FROM rejected_records
WHERE cluster = :cluster AND byte_position IS NULL
  AND reason NOT IN ('unknown_record_type', 'unknown_value_version')
