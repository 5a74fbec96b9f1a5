-- The newest record or snapshot beside the start of the run, whatever the as-of time.
WITH newest AS (
  SELECT max(newest_time) AS newest_time
  FROM (
    SELECT max(to_time) AS newest_time FROM history_coverage WHERE cluster = :cluster
    UNION ALL
    SELECT max(captured_time) AS newest_time FROM topic_snapshots WHERE cluster = :cluster
  ) AS sources
)
SELECT CAST(NULL AS STRING) AS group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'the newest record or snapshot is of ' || substring(CAST(newest_time AS STRING), 1, 19)
      || ', more than :max_source_age_hours hours '
    || 'before the run: has the source stopped?' AS message,
  CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
FROM newest
WHERE :max_source_age_hours > 0 AND newest_time < :max_source_age_hours_before_start
