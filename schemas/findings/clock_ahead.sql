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
SELECT CAST(NULL AS STRING) AS group_id,
  CASE WHEN offsets_partition IS NULL THEN 'snapshots' ELSE 'records' END AS subject, CAST(NULL AS STRING) AS topic,
  CAST(NULL AS INT) AS partition, CAST(NULL AS TIMESTAMP) AS at_time,
  coalesce('offsets partition ' || CAST(offsets_partition AS STRING) || ': its newest record', 'the newest snapshot')
    || ' is of ' || substring(CAST(newest_time AS STRING), 1, 19) || ', '
    || CASE WHEN num_days > 1 THEN CAST(num_days AS STRING) || ' days'
      WHEN num_days = 1 OR num_hours > 0 THEN CAST(num_days * 24 + num_hours AS STRING) || ' h '
        || CAST(num_minutes AS STRING) || ' min'
      ELSE CAST(num_minutes AS STRING) || ' min' END
    || ' after this run began' AS message,
  offsets_partition AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  last_offset AS evidence_last_offset, 'certain' AS confidence, CAST(NULL AS STRING) AS severity,
  CAST((num_days * 24 + num_hours) * 60 + num_minutes AS DOUBLE) AS harm
FROM measured
