-- Partitions of __consumer_offsets that have groups and probably go on after the last record that was read, at the
-- as-of time. That one ends before others is no proof: it counts where a group there would have committed since.
WITH waiting AS (
  SELECT evidence_partition, count(DISTINCT group_id) AS num_groups
  FROM group_verdicts
  WHERE cluster = :cluster AND rule = 'log_ended' AND {is_newest_verdict}
  GROUP BY evidence_partition
),
early AS (
  SELECT ends.*, count(*) OVER () AS num_early
  FROM offsets_partitions AS ends
  LEFT JOIN waiting ON waiting.evidence_partition = ends.offsets_partition
  WHERE cluster = :cluster AND early_end IS NOT NULL AND ends.num_groups > 0
    AND (early_end <> 'before_others' OR waiting.num_groups > 0)
)
SELECT {about '__consumer_offsets'}, {lasting},
  'offsets partition ' || CAST(offsets_partition AS STRING) || ' ends at ' || {second log_until_time}
    || CASE WHEN ends_before_others_ms >= 1000
      THEN ', ' || CAST(CAST(floor(ends_before_others_ms / 1000) AS BIGINT) AS STRING) || ' s before others' ELSE '' END
    || CASE early_end WHEN 'torn_tail' THEN ', in the middle of a batch'
      WHEN 'known_end' THEN '; a snapshot of ' || {second known_end_time} || ' shows '
        || CAST(known_end_offset - 1 - last_offset AS STRING) || ' offsets more' ELSE '' END
    || ': ' || {counted num_groups, ' group lives', ' groups live'} || ' there'
    || CASE WHEN num_early > 1
      THEN ', and ' || CAST(num_early - 1 AS STRING)
        || CASE num_early WHEN 2 THEN ' more partition ends' ELSE ' more partitions end' END || ' early' ELSE ''
    END AS message,
  {records offsets_partition, last_offset, last_offset},
  CASE early_end WHEN 'before_others' THEN 'possible' ELSE 'certain' END AS confidence,
  CASE WHEN early_end = 'known_end' AND :max_source_age_hours > 0
    AND log_until_time < known_end_time - INTERVAL ':max_source_age_hours' HOUR THEN 'critical' END AS severity,
  CAST(num_groups AS DOUBLE) AS harm
FROM early
