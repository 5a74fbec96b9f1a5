-- Lag of each partition of groups with findings, and of groups of which there is little; of another group, of that whose
-- lag was highest.
WITH tops AS (
  SELECT group_id, name, partition, count(*) OVER (PARTITION BY group_id) AS num_snapshots
  FROM points
  QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY high DESC NULLS LAST, snapshot_time) = 1
),
little AS (
  SELECT places.group_id
  FROM places
  JOIN tops ON tops.group_id = places.group_id
  GROUP BY places.group_id, num_snapshots
  HAVING count(*) * num_snapshots <= {room}
),
chosen AS (
  SELECT places.group_id, places.name, places.partition, place
  FROM places
  LEFT JOIN tops ON tops.group_id = places.group_id AND tops.name = places.name
    AND tops.partition = places.partition
  WHERE places.group_id IN ({troubled}) OR places.group_id IN (FROM little) OR tops.group_id IS NOT NULL
)
SELECT p.group_id, place, snapshot_time, max(p.lag) AS lag
FROM lag_points AS p
JOIN chosen ON chosen.group_id = p.group_id AND name = coalesce(p.topic, p.topic_id, '?')
  AND chosen.partition = p.partition
WHERE p.cluster = {cluster} AND p.group_id IN ({groups}) AND snapshot_time <= {as_of} AND p.lag IS NOT NULL
GROUP BY p.group_id, place, snapshot_time
