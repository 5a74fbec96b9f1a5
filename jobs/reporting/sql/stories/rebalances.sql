SELECT r.*, told.turn IS NOT NULL AS is_told
FROM rebalances AS r
JOIN turns ON turns.group_id = r.group_id AND turns.assignment_offset = r.assignment_offset
LEFT JOIN told ON told.group_id = r.group_id AND told.turn = turns.turn
WHERE r.cluster = {cluster} AND r.group_id IN ({groups})
  AND EXISTS (SELECT 1 FROM told AS near WHERE near.group_id = r.group_id AND abs(near.turn - turns.turn) <= 1)
ORDER BY r.group_id, turns.turn
