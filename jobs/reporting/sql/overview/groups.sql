SELECT i.group_id, i.group_type, i.state, i.assignor, i.num_members, i.num_topics, i.last_commit_time, i.is_tool,
  v.own_verdict, v.burrow_verdict, l.lag, l.num_unknown,
  coalesce(r.num_rebalances, 0) AS num_rebalances, m.longest_unread_high_ms, w.unread_since_time,
  coalesce(r.num_unread_unknown, 0) AS num_unread_unknown
FROM v_inventory AS i
LEFT JOIN (
  SELECT group_id, own_verdict, burrow_verdict
  FROM group_verdicts
  WHERE cluster = {cluster} AND partition IS NULL
    AND as_of_time = (SELECT max(as_of_time) FROM group_verdicts WHERE cluster = {cluster} AND as_of_time <= {as_of})
) AS v ON v.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, {total_lag} AS lag, count(*) - count(lag) AS num_unknown
  FROM lag_points
  WHERE cluster = {cluster}
    AND snapshot_time = (
      SELECT max(snapshot_time) FROM lag_points WHERE cluster = {cluster} AND snapshot_time <= {as_of}
    )
  GROUP BY group_id
) AS l ON l.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, count(*) AS num_rebalances,
    count(CASE
      WHEN longest_unread_high_ms IS NULL AND outcome <> 'emptied'
        AND coalesce(num_moved + num_returned + num_unowned, 1) > 0 THEN 1
    END) AS num_unread_unknown
  FROM rebalances
  WHERE cluster = {cluster}
  GROUP BY group_id
) AS r ON r.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, max(unread_high_ms) AS longest_unread_high_ms
  FROM partition_moves
  WHERE cluster = {cluster}
  GROUP BY group_id
) AS m ON m.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, min(move_time) AS unread_since_time
  FROM (
    SELECT group_id, move_time, to_member_id, row_number() OVER (
      PARTITION BY group_id, coalesce(topic, topic_id), partition ORDER BY move_offset DESC
    ) AS place
    FROM partition_moves
    WHERE cluster = {cluster} AND coalesce(role, 'active') = 'active'
  ) AS placed
  WHERE place = 1 AND to_member_id IS NULL
  GROUP BY group_id
) AS w ON w.group_id = i.group_id AND i.num_members = 0
WHERE i.cluster = {cluster}
ORDER BY i.group_id
