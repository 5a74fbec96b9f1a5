SELECT group_id, migration, phase, readiness, cardinality(members_done) AS num_done,
  cardinality(members_remaining) AS num_remaining, started_time, finished_time, blockers
FROM assignor_upgrades
WHERE cluster = {cluster} AND (phase <> 'not_started' OR cardinality(blockers) > 0)
ORDER BY CASE phase WHEN 'stuck' THEN 0 WHEN 'in_progress' THEN 1 ELSE 2 END, group_id
LIMIT 60
