-- What the newest audit could not write: its report, or a file that a flag asks for.
WITH newest AS (
  SELECT max(run_id) AS run_id FROM runs WHERE cluster = :cluster AND job = 'report'
)
SELECT CAST(NULL AS STRING) AS group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time, since_time AS since_time,
  'the audit of ' || substring(CAST(started_time AS STRING), 1, 19) || ' could not write it: ' || message AS message,
  CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset, 'certain' AS confidence, CAST(NULL AS STRING) AS severity,
  CAST(1 AS DOUBLE) AS harm
FROM findings
JOIN newest ON newest.run_id = findings.run_id
JOIN runs ON runs.run_id = newest.run_id AND runs.cluster = findings.cluster AND runs.job = 'report'
WHERE findings.cluster = :cluster AND kind = 'report_failed'
