-- Parts of the log between known ones that were never seen.
WITH known AS (
  SELECT offsets_partition, first_offset, from_time,
    lag(last_offset) OVER (PARTITION BY offsets_partition ORDER BY first_offset) AS before_offset,
    lag(to_time) OVER (PARTITION BY offsets_partition ORDER BY first_offset) AS before_time
  FROM history_coverage
  WHERE cluster = :cluster
)
SELECT CAST(NULL AS STRING) AS group_id, '__consumer_offsets-' || CAST(offsets_partition AS STRING) AS subject,
  CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'offsets partition ' || CAST(offsets_partition AS STRING) || ': offsets '
      || CAST(before_offset + 1 AS STRING) || ' to '
    || CAST(first_offset - 1 AS STRING) || ' were never read' AS message,
  offsets_partition AS evidence_partition, before_offset + 1 AS evidence_first_offset,
  first_offset - 1 AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(first_offset - before_offset - 1 AS DOUBLE) AS harm
FROM known
WHERE before_offset IS NOT NULL
