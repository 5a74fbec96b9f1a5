SELECT m.group_id, coalesce(turn, -1) AS rebalance, coalesce(place, -1) AS partition,
  coalesce(f.member, -1) AS from_member, coalesce(t.member, -1) AS to_member, move_time AS "at", kind,
  unread_low_ms AS unread_low, unread_high_ms AS unread_high, unread_basis AS basis, role
FROM partition_moves AS m
LEFT JOIN turns ON turns.group_id = m.group_id AND turns.assignment_offset = m.assignment_offset
LEFT JOIN places ON places.group_id = m.group_id AND name = coalesce(m.topic, m.topic_id, '?')
  AND places.partition = m.partition
LEFT JOIN ids AS f ON f.group_id = m.group_id AND f.member_id = from_member_id
LEFT JOIN ids AS t ON t.group_id = m.group_id AND t.member_id = to_member_id
WHERE m.cluster = {cluster} AND m.group_id IN ({groups})
ORDER BY m.group_id, place, move_time NULLS FIRST, move_offset, role
