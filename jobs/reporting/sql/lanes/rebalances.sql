SELECT r.group_id, r.start_time AS start, end_time AS "end", from_generation AS generation_before,
  to_generation AS generation_after, trigger AS cause, trigger_detail AS sentence, outcome, mode,
  num_partitions AS partitions, num_moved AS moved, num_returned AS returned, num_unowned AS unowned,
  num_members_before AS members_before, num_members_after AS members_after, u.unread_low, u.unread_high,
  unread_partition_high_ms AS unread_all, r.assignment_offset AS "offset", evidence_first_offset AS first_offset,
  evidence_last_offset AS last_offset, a.assignor, a.verdict, a.reason, confidence
FROM rebalances AS r
JOIN turns ON turns.group_id = r.group_id AND turns.assignment_offset = r.assignment_offset
LEFT JOIN (
  SELECT group_id, assignment_offset, max(unread_high_ms) AS unread_high,
    arg_max(unread_low_ms, unread_high_ms) AS unread_low
  FROM partition_moves
  WHERE cluster = {cluster} AND group_id IN ({groups})
  GROUP BY group_id, assignment_offset
) AS u ON u.group_id = r.group_id AND u.assignment_offset = r.assignment_offset
LEFT JOIN (
  SELECT group_id, assignment_offset, assignor, verdict, reason
  FROM assignment_audit
  WHERE cluster = {cluster} AND group_id IN ({groups})
  QUALIFY row_number() OVER (
    PARTITION BY group_id, assignment_offset ORDER BY CASE verdict WHEN 'carried_over' THEN 1 ELSE 0 END, record_time
  ) = 1
) AS a ON a.group_id = r.group_id AND a.assignment_offset = r.assignment_offset
WHERE r.cluster = {cluster} AND r.group_id IN ({groups})
ORDER BY r.group_id, turn
