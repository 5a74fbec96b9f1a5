SELECT job, run_id, started_time, finished_time, as_of_time, verdict, exit_code, contract_version
FROM runs
WHERE cluster = {cluster}
ORDER BY run_id DESC
LIMIT 400
