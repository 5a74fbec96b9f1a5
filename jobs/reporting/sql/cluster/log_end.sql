SELECT r.started_time, CAST(l.value AS BIGINT) AS max_source_age_hours,
  (SELECT max(to_time) FROM history_coverage WHERE cluster = {cluster}) AS log_end_time,
  (SELECT max(captured_time) FROM topic_snapshots
   WHERE cluster = {cluster} AND topic = '__consumer_offsets' AND captured_time <= r.started_time) AS end_shown_time
FROM runs AS r
JOIN gate_limits AS l ON l.cluster = r.cluster AND l.setting = 'max_source_age_hours'
WHERE r.cluster = {cluster} AND r.job = 'gate' AND r.run_id = {shown_run}
