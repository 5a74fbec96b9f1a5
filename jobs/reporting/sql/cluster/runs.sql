SELECT job, run_id, started_time, finished_time, as_of_time, verdict, exit_code, contract_version
FROM runs
WHERE cluster = {cluster} AND NOT (job = 'gate' AND run_id >= coalesce((
    SELECT min(run_id) FROM gate_runs WHERE cluster = {cluster} AND run_id > {shown_run}
  ), '~'))
ORDER BY run_id DESC
LIMIT 400
