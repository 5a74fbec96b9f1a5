SELECT offsets_partition, count(*) AS num_spans, min(from_time) AS from_time, max(to_time) AS to_time,
  CAST(sum(num_records) AS BIGINT) AS num_records, CAST(sum(damaged_records) AS BIGINT) AS damaged_records,
  CAST(sum(compacted_records_estimate) AS BIGINT) AS compacted_records_estimate
FROM history_coverage
WHERE cluster = {cluster}
GROUP BY offsets_partition
ORDER BY offsets_partition
