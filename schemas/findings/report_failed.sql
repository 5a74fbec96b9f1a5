-- What the newest audit could not write: its report, or a file that a flag asks for.
WITH newest AS (
  SELECT max(run_id) AS run_id FROM runs WHERE cluster = :cluster AND job = 'report'
)
SELECT {about_all}, {lasting}, since_time AS since_time,
  'the audit of ' || {second started_time} || ' could not write it: ' || message AS message,
  {no_evidence}, 'certain' AS confidence, {harm 1}
FROM findings
JOIN newest ON newest.run_id = findings.run_id
JOIN runs ON runs.run_id = newest.run_id AND runs.cluster = findings.cluster AND runs.job = 'report'
WHERE findings.cluster = :cluster AND kind = 'report_failed'
