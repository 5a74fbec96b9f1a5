SELECT m.group_id, assignment_offset, topic, topic_id, partition, kind, role, from_member_id, to_member_id, move_offset,
  move_time, idle_ms, commit_gap_ms, unread_low_ms, unread_high_ms, unread_basis
FROM partition_moves AS m
JOIN (SELECT group_id, min(assignment_offset) AS first_offset FROM told GROUP BY group_id) AS since
  ON since.group_id = m.group_id AND m.assignment_offset >= since.first_offset
WHERE m.cluster = {cluster} AND m.group_id IN ({groups})
ORDER BY m.group_id, move_offset, move_time, topic, topic_id, partition, role
