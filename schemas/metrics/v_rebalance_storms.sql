-- Rebalance storms: many rebalances of a group within minutes.
-- num_storms: Number of storms.
-- num_groups: Number of groups that had a storm.
-- most_generations_per_hour: Generations per hour in the worst storm; NULL if there was none.
WITH judged AS (
  SELECT * FROM v_rebalance_storms WHERE cluster = :cluster
)
SELECT count(*) AS num_storms,
  count(DISTINCT group_id) AS num_groups,
  max(generations_per_hour) AS most_generations_per_hour
FROM judged
