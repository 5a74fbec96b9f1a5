-- From when to when a group is told of.
SELECT group_id, min(first_time) AS from_time, greatest(max(first_time), {until}) AS to_time
FROM (
  SELECT group_id, min(from_time) AS first_time FROM group_state_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups}) GROUP BY group_id
  UNION ALL
  SELECT group_id, min(from_time) FROM membership_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups}) GROUP BY group_id
  UNION ALL
  SELECT group_id, min(from_time) FROM committed GROUP BY group_id
  UNION ALL
  SELECT group_id, min(snapshot_time) FROM points GROUP BY group_id
  UNION ALL
  SELECT group_id, unnest([min(at_time), max(at_time)]) FROM happenings GROUP BY group_id
) AS firsts
WHERE first_time IS NOT NULL
GROUP BY group_id
