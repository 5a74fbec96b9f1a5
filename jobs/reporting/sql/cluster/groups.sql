-- Groups, the worst first: also those that are no longer there.
WITH found AS (
  SELECT group_id, count(*) FILTER (WHERE severity = 'critical') AS critical,
    count(*) FILTER (WHERE severity = 'warning') AS warning, count(*) FILTER (WHERE severity = 'info') AS info
  FROM v_findings
  WHERE cluster = {cluster} AND group_id IS NOT NULL AND waived_until_time IS NULL
  GROUP BY group_id
),
used AS (
  SELECT group_id, list_sort(list(DISTINCT topic)) AS topics
  FROM (
    SELECT cluster, group_id, topic FROM offset_history
    UNION ALL
    SELECT cluster, group_id, topic FROM ownership_intervals
  ) AS used_by
  WHERE cluster = {cluster} AND topic IS NOT NULL
  GROUP BY group_id
),
-- By what people look for a group: the newest of each.
clients AS (
  SELECT group_id, concat_ws(
    ' ', string_agg(DISTINCT client_id, ' ' ORDER BY client_id), string_agg(DISTINCT client_host, ' ' ORDER BY client_host),
    string_agg(DISTINCT group_instance_id, ' ' ORDER BY group_instance_id), string_agg(DISTINCT member_id, ' ' ORDER BY member_id)
  ) AS words
  FROM (
    SELECT group_id, member_id, client_id, client_host, group_instance_id
    FROM membership_intervals
    WHERE cluster = {cluster}
    QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY from_record_offset DESC, member_id) <= 40
  ) AS newest
  GROUP BY group_id
),
present AS (SELECT * FROM v_inventory WHERE cluster = {cluster}),
ends AS (SELECT max(to_time) AS end_time FROM history_coverage WHERE cluster = {cluster}),
inventory AS (
  SELECT group_id, group_type, state, assignor, num_members, last_commit_time, is_tool, FALSE AS is_gone FROM present
  UNION ALL
  SELECT group_id, arg_max(group_type, place), CASE WHEN bool_or(ended_by = 'deleted') THEN 'deleted' END,
    arg_max(assignor, place), NULL, max(commit_time), bool_or({is_of_a_tool}), TRUE
  FROM (
    SELECT group_id, group_type, assignor, ended_by, coalesce(from_record_offset, -1) AS place, NULL AS commit_time
    FROM group_state_intervals
    WHERE cluster = {cluster}
    UNION ALL
    SELECT group_id, group_type, NULL, NULL, assignment_offset, NULL FROM rebalances WHERE cluster = {cluster}
    UNION ALL
    SELECT group_id, NULL, NULL, NULL, from_record_offset, last_commit_time
    FROM offset_history
    WHERE cluster = {cluster}
  ) AS states
  WHERE group_id NOT IN (SELECT group_id FROM present)
  GROUP BY group_id
),
-- Since when nobody has read partitions, to the end of the log: their static members went away, or all members left.
away AS (
  SELECT m.group_id, min(away_since_time) AS away_time
  FROM membership_intervals AS m
  JOIN ownership_intervals AS o ON o.cluster = m.cluster AND o.group_id = m.group_id AND o.member_id = m.member_id
  WHERE m.cluster = {cluster} AND away_since_time IS NOT NULL AND m.to_record_offset IS NULL
    AND o.to_record_offset IS NULL AND coalesce(role, 'active') = 'active'
  GROUP BY m.group_id
)
SELECT coalesce(i.group_id, f.group_id) AS id, coalesce(group_type, 'unknown') AS type,
  coalesce(state, 'unknown') AS state, assignor, coalesce(
    own_verdict, CASE WHEN state = 'deleted' OR group_type = 'share' THEN 'no verdict' ELSE 'UNKNOWN' END
  ) AS verdict, reason,
  v.since_time AS since,
  CASE WHEN critical > 0 THEN 'critical' WHEN warning > 0 THEN 'warning' WHEN info > 0 THEN 'info' END AS severity,
  coalesce(critical, 0) AS critical, coalesce(warning, 0) AS warning, coalesce(info, 0) AS info,
  num_members AS members, lag, coalesce(num_unknown, 0) AS lag_unknown, time_lag_ms AS time_lag, worst,
  coalesce(num_rebalances, 0) AS rebalances, greatest(longest_unread_high_ms, lasting_ms) AS unread,
  coalesce(lasting_ms >= coalesce(longest_unread_high_ms, 0), FALSE) AS unread_lasts,
  coalesce(num_unread_unknown, 0) AS unread_unknown, coalesce(away_time, unread_since_time) AS unread_since,
  coalesce(topics, []) AS topics, coalesce(words, '') AS words, coalesce(is_tool, FALSE) AS is_tool,
  coalesce(is_gone, FALSE) AS is_gone, last_commit_time AS last_commit
FROM inventory AS i
FULL JOIN found AS f ON f.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, own_verdict, burrow_verdict, reason, since_time
  FROM group_verdicts
  WHERE cluster = {cluster} AND partition IS NULL
    AND as_of_time = (SELECT max(as_of_time) FROM group_verdicts WHERE cluster = {cluster} AND as_of_time <= {as_of})
) AS v ON v.group_id = i.group_id
LEFT JOIN (
  SELECT group_id, {total_lag} AS lag, count(*) - count(lag) AS num_unknown, max(time_lag_ms) AS time_lag_ms,
    arg_max(concat(coalesce(topic, topic_id, '?'), '-', partition), lag) AS worst
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
LEFT JOIN away ON away.group_id = i.group_id
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN away_time IS NOT NULL OR (lag > 0 AND own_verdict <> 'OK')
      THEN epoch_ms((SELECT end_time FROM ends) - coalesce(away_time, unread_since_time))
  END AS lasting_ms
) AS lasting
LEFT JOIN used ON used.group_id = i.group_id
LEFT JOIN clients ON clients.group_id = i.group_id
ORDER BY critical DESC, warning DESC, {worst_first}, away_time IS NULL, info DESC, coalesce(l.lag, 0) DESC, id
