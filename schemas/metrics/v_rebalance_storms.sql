-- Rebalance storms: a group rebalances again and again.
-- num_storms: Number of storms.
-- num_groups: Number of groups that had a storm.
-- num_rolling: Number of restarts and upgrades of members, one after the other, which are no storms.
-- most_generations_per_hour: Generations per hour in the worst storm; NULL if there was none.
SELECT count(CASE WHEN kind = 'storm' THEN 1 END) AS num_storms,
  count(DISTINCT CASE WHEN kind = 'storm' THEN group_id END) AS num_groups,
  count(CASE WHEN kind <> 'storm' THEN 1 END) AS num_rolling,
  max(CASE WHEN kind = 'storm' THEN generations_per_hour END) AS most_generations_per_hour
FROM judged
