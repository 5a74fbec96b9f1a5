-- Ids that messages of findings may have.
SELECT DISTINCT m.member_id
FROM membership_intervals AS m
JOIN v_findings AS f ON f.cluster = m.cluster AND f.group_id = m.group_id
WHERE m.cluster = {cluster}
