-- Where everything measured is kept, of groups of which there is much: the last day of those with findings, and half an
-- hour around each event.
WITH large AS (
  SELECT group_id FROM many_commits
  UNION
  SELECT group_id FROM points GROUP BY group_id HAVING count(*) > {columns}
),
wanted AS (
  SELECT group_id, at_time - INTERVAL 15 MINUTE AS from_time, at_time + INTERVAL 15 MINUTE AS to_time
  FROM happenings
  WHERE group_id IN (FROM large)
  UNION ALL
  SELECT group_id, to_time - INTERVAL 1 DAY, to_time
  FROM bounds
  WHERE group_id IN ({troubled}) AND group_id IN (FROM large)
),
-- A span that begins after all earlier ones have ended begins a new one.
islands AS (
  SELECT group_id, from_time, to_time, sum(is_new) OVER (PARTITION BY group_id ORDER BY from_time, to_time ROWS
      UNBOUNDED PRECEDING) AS island
  FROM (
    SELECT group_id, from_time, to_time, CASE WHEN from_time <= max(to_time) OVER (
      PARTITION BY group_id ORDER BY from_time, to_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) THEN 0 ELSE 1 END AS is_new
    FROM wanted
  ) AS begun
),
joined AS (
  SELECT islands.group_id, greatest(min(islands.from_time), bounds.from_time) AS from_time,
    least(max(islands.to_time), bounds.to_time) AS to_time
  FROM islands
  JOIN bounds ON bounds.group_id = islands.group_id
  GROUP BY islands.group_id, island, bounds.from_time, bounds.to_time
),
sizes AS (
  SELECT joined.group_id, joined.from_time, joined.to_time, count(times.at_time) AS num_rows
  FROM (
    SELECT group_id, snapshot_time AS at_time FROM points
    UNION ALL
    SELECT group_id, from_time FROM committed WHERE group_id IN (FROM large)
  ) AS times
  ASOF JOIN joined ON joined.group_id = times.group_id AND joined.from_time <= times.at_time
  WHERE times.at_time <= joined.to_time
  GROUP BY joined.group_id, joined.from_time, joined.to_time
)
-- The newest, as long as there is room for them.
SELECT group_id, from_time, to_time
FROM sizes
QUALIFY sum(num_rows) OVER (PARTITION BY group_id ORDER BY from_time DESC)
  <= CASE WHEN group_id IN ({troubled}) THEN {troubled_room} ELSE {room} END
