-- Rebalances by number, in the order of time.
SELECT group_id, assignment_offset, start_time,
  CAST(row_number() OVER (PARTITION BY group_id ORDER BY start_time, assignment_offset) AS INT) - 1 AS turn
FROM rebalances
WHERE cluster = {cluster} AND group_id IN ({groups}) AND start_time IS NOT NULL
