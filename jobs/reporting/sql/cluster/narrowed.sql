SELECT g.run_id, g.narrowed_by, max(r.finished_time) AS finished_time, g.run_id = {shown_run} AS is_shown
FROM gate_runs AS g
JOIN runs AS r ON r.cluster = g.cluster AND r.run_id = g.run_id AND r.job = 'gate'
WHERE g.cluster = {cluster} AND g.run_id = (SELECT max(run_id) FROM gate_runs WHERE cluster = {cluster})
  AND g.narrowed_by IS NOT NULL
GROUP BY g.run_id, g.narrowed_by
