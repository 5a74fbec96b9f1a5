-- Partitions of __consumer_offsets that no source had, at the as-of time. Whatever groups they hold is not judged.
WITH missing AS (
  SELECT offsets_partition, num_partitions, partitions_source, num_captured_groups,
    coalesce(known_end_offset, 0) AS known_end_offset,
    coalesce(known_end_offset, 0) > 0 OR num_captured_groups > 0 AS is_proven
  FROM offsets_partitions
  WHERE cluster = :cluster AND reading = 'never_read'
)
SELECT {about '__consumer_offsets'}, {lasting},
  CAST(count(*) OVER () AS STRING) || ' of ' || CAST(num_partitions AS STRING)
    || CASE count(*) OVER () WHEN 1 THEN ' offsets partitions was' ELSE ' offsets partitions were' END || ' never read'
    || CASE partitions_source WHEN 'assumed' THEN ' (50 is assumed: Kafka''s default)' ELSE '' END || ', such as '
    || CAST(offsets_partition AS STRING)
    || CASE WHEN known_end_offset > 0 THEN ': a snapshot shows offsets up to ' || CAST(known_end_offset - 1 AS STRING)
      WHEN num_captured_groups > 0 THEN ': a snapshot names groups that belong there' ELSE '' END AS message,
  {records offsets_partition, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)}, 'certain' AS confidence,
  CASE WHEN is_proven THEN 'critical' WHEN partitions_source = 'assumed' THEN 'info' END AS severity,
  CAST(known_end_offset AS DOUBLE) AS harm
FROM missing
