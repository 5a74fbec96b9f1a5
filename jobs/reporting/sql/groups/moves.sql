SELECT group_id, assignment_offset, topic, topic_id, partition, kind, role, from_member_id, to_member_id, move_offset,
  move_time, idle_ms, commit_gap_ms, unread_low_ms, unread_high_ms, unread_basis
FROM partition_moves
WHERE cluster = {cluster} AND group_id IN ({groups})
QUALIFY row_number() OVER (
  PARTITION BY group_id
  ORDER BY move_offset DESC, move_time DESC NULLS LAST, topic, topic_id, partition, from_member_id, to_member_id
) <= {most}
ORDER BY group_id, move_time NULLS LAST, topic NULLS LAST, partition, assignment_offset, topic_id, from_member_id, to_member_id
