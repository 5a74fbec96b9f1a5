SELECT DISTINCT m.group_id, m.member_id
FROM membership_intervals AS m
JOIN findings AS f ON f.cluster = m.cluster AND f.group_id = m.group_id
WHERE m.cluster = {cluster} AND f.run_id = (SELECT max(run_id) FROM gate_runs WHERE cluster = {cluster})
