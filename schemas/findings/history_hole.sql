-- Parts of the log between known ones that were never seen.
WITH known AS (
  SELECT offsets_partition, first_offset, from_time,
    lag(last_offset) OVER (PARTITION BY offsets_partition ORDER BY first_offset) AS before_offset,
    lag(to_time) OVER (PARTITION BY offsets_partition ORDER BY first_offset) AS before_time
  FROM history_coverage
  WHERE cluster = :cluster
)
SELECT {about {offsets_partition offsets_partition}}, {lasting},
  'offsets partition ' || CAST(offsets_partition AS STRING) || ': offsets '
      || CAST(before_offset + 1 AS STRING) || ' to '
    || CAST(first_offset - 1 AS STRING) || ' were never read' AS message,
  {records offsets_partition, before_offset + 1, first_offset - 1}, 'certain' AS confidence,
  {harm first_offset - before_offset - 1}
FROM known
WHERE before_offset IS NOT NULL
