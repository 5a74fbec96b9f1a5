WITH known AS (
  SELECT offsets_partition, count(*) AS num_spans, min(from_time) AS from_time, max(to_time) AS to_time,
    CAST(sum(num_records) AS BIGINT) AS num_records, CAST(sum(damaged_records) AS BIGINT) AS damaged_records,
    CAST(sum(compacted_records_estimate) AS BIGINT) AS compacted_records_estimate
  FROM history_coverage
  WHERE cluster = {cluster}
  GROUP BY offsets_partition
)
SELECT coalesce(known.offsets_partition, ends.offsets_partition) AS offsets_partition, coalesce(reading, 'read') AS reading,
  num_groups, num_spans, from_time, to_time, num_records, damaged_records, compacted_records_estimate, torn_tail_bytes,
  last_offset, known_end_offset, ends_before_others_ms, early_end, num_partitions, partitions_source
FROM known
FULL JOIN (SELECT * FROM offsets_partitions WHERE cluster = {cluster}) AS ends
  ON ends.offsets_partition = known.offsets_partition
ORDER BY 1
