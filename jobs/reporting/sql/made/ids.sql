-- Members by number, in the order in which they came.
SELECT group_id, member_id, CAST(row_number() OVER (
    PARTITION BY group_id ORDER BY min(came), min(from_record_offset), member_id
  ) AS INT) - 1 AS member
FROM (
  SELECT group_id, member_id, from_record_offset, 0 AS came
  FROM membership_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION ALL
  SELECT group_id, member_id, from_record_offset, 1
  FROM ownership_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION ALL
  SELECT group_id, member_id, assignment_offset, 2
  FROM generation_members
  WHERE cluster = {cluster} AND group_id IN ({groups})
  UNION ALL
  SELECT group_id, unnest([from_member_id, to_member_id]), move_offset, 3
  FROM partition_moves
  WHERE cluster = {cluster} AND group_id IN ({groups})
) AS every
WHERE member_id IS NOT NULL
GROUP BY group_id, member_id
