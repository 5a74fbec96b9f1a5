WITH sides AS (
  SELECT group_id, assignment_offset, member_id, is_leader, FALSE AS is_after, unnest(previous_assigned) AS owned
  FROM generation_members
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION ALL
  SELECT group_id, assignment_offset, member_id, is_leader, TRUE, unnest(assigned)
  FROM generation_members
  WHERE cluster = {cluster} AND group_id IN ({groups})
),
every AS (
  SELECT group_id, assignment_offset, member_id, is_after, coalesce(owned.topic, owned.topic_id, '?') AS name,
    unnest(owned.partitions) AS partition
  FROM sides
),
lists AS (
  SELECT every.group_id, assignment_offset, member_id,
    list(place ORDER BY place) FILTER (WHERE NOT is_after) AS before,
    list(place ORDER BY place) FILTER (WHERE is_after) AS after
  FROM every
  JOIN places ON places.group_id = every.group_id AND places.name = every.name
    AND places.partition = every.partition
  GROUP BY every.group_id, assignment_offset, member_id
)
SELECT g.group_id, turn AS rebalance, member, coalesce(before, []) AS before, coalesce(after, []) AS after,
  coalesce(CAST(is_leader AS INT), 0) AS is_leader
FROM generation_members AS g
JOIN turns ON turns.group_id = g.group_id AND turns.assignment_offset = g.assignment_offset
JOIN ids ON ids.group_id = g.group_id AND ids.member_id = g.member_id
LEFT JOIN lists ON lists.group_id = g.group_id AND lists.assignment_offset = g.assignment_offset
  AND lists.member_id = g.member_id
WHERE g.cluster = {cluster} AND g.group_id IN ({groups})
ORDER BY g.group_id, turn, member
