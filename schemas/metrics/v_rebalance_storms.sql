-- Storms: rebalances of a group that follow one another within minutes.
-- num_storms: Storms.
-- num_groups: Groups that had one.
-- most_generations_per_hour: Generations an hour in the densest one; NULL: there was none.
WITH judged AS (
  SELECT * FROM v_rebalance_storms WHERE cluster = :cluster
)
SELECT count(*) AS num_storms,
  count(DISTINCT group_id) AS num_groups,
  max(generations_per_hour) AS most_generations_per_hour
FROM judged
