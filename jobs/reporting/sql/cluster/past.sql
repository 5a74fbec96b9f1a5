-- Of each sixtieth of the time that is known: rebalances, and how many offsets partitions have history in its middle.
WITH known AS (
  SELECT epoch_ms(min(from_time)) AS from_ms, epoch_ms(max(to_time)) AS to_ms
  FROM history_coverage
  WHERE cluster = {cluster}
  GROUP BY offsets_partition
),
begun AS (
  SELECT greatest(0, least(59, (epoch_ms(start_time) - {first_ms}) * 60 // {length_ms})) AS place,
    count(*) AS num_rebalances
  FROM rebalances
  WHERE cluster = {cluster} AND start_time IS NOT NULL
  GROUP BY 1
)
SELECT every.place, coalesce(max(num_rebalances), 0) AS num_rebalances,
  CASE WHEN count(known.from_ms) > 0
    THEN count(CASE WHEN {first_ms} + {length_ms} * (2 * every.place + 1) // 120 BETWEEN from_ms AND to_ms THEN 1 END)
  END AS num_covered
FROM (SELECT unnest(range(60)) AS place) AS every
LEFT JOIN begun ON begun.place = every.place
LEFT JOIN known ON TRUE
GROUP BY every.place
ORDER BY every.place
