-- Records and snapshots of a time more than 5 minutes after the run began.
WITH newest AS (
  SELECT offsets_partition, max(to_time) AS newest_time, max(last_offset) AS last_offset
  FROM history_coverage
  WHERE cluster = :cluster
  GROUP BY offsets_partition
  UNION ALL
  SELECT CAST(NULL AS INT), max(captured_time), CAST(NULL AS BIGINT)
  FROM cluster_snapshots
  WHERE cluster = :cluster
),
ahead AS (
  SELECT newest.*, newest_time - :started_time AS by_how_much
  FROM newest
  WHERE newest_time > :started_time + INTERVAL '5' MINUTE
),
measured AS (
  SELECT ahead.*, CAST(EXTRACT(DAY FROM by_how_much) AS BIGINT) AS num_days,
    CAST(EXTRACT(HOUR FROM by_how_much) AS BIGINT) AS num_hours,
    CAST(EXTRACT(MINUTE FROM by_how_much) AS BIGINT) AS num_minutes
  FROM ahead
)
SELECT {about CASE WHEN offsets_partition IS NULL THEN 'snapshots' ELSE 'records' END}, {lasting},
  coalesce('offsets partition ' || CAST(offsets_partition AS STRING) || ': its newest record', 'the newest snapshot')
    || ' is of ' || {second newest_time} || ', '
    || CASE WHEN num_days > 1 THEN CAST(num_days AS STRING) || ' days'
      WHEN num_days = 1 OR num_hours > 0 THEN CAST(num_days * 24 + num_hours AS STRING) || ' h '
        || CAST(num_minutes AS STRING) || ' min'
      ELSE CAST(num_minutes AS STRING) || ' min' END
    || ' after this run began' AS message,
  {records offsets_partition, CAST(NULL AS BIGINT), last_offset}, 'certain' AS confidence,
  {harm (num_days * 24 + num_hours) * 60 + num_minutes}
FROM measured
