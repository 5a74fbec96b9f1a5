SELECT run_id, count(*) AS num_findings
FROM findings
WHERE cluster = {cluster} AND waived_until_time IS NULL
GROUP BY run_id
ORDER BY run_id
