-- When one offset was committed again and again though messages waited: ten times or more while they surely did, as many
-- commits as Burrow looks at before it says STALL. Surely: since the oldest waiting message can have come at the latest;
-- drawn since it probably came.
WITH repeated AS (
  SELECT committed.*, places.name, places.partition
  FROM committed
  JOIN places ON places.group_id = committed.group_id AND places.place = committed.place
  JOIN bounds ON bounds.group_id = committed.group_id
  -- One would see it on a screen.
  WHERE num_commits > 10
    AND epoch_ms(until - committed.from_time) * {columns} > epoch_ms(bounds.to_time - bounds.from_time)
),
waiting AS (
  SELECT repeated.group_id, place, from_time, until, num_commits, lag,
    greatest(from_time, least(until, snapshot_time - to_milliseconds(coalesce(time_lag_low_ms, 0)))) AS sure_time,
    greatest(from_time, least(until, snapshot_time - to_milliseconds(coalesce(time_lag_ms, 0)))) AS likely_time
  FROM (
    SELECT group_id, coalesce(topic, topic_id, '?') AS name, partition, snapshot_time, lag, time_lag_low_ms, time_lag_ms
    FROM lag_points
    WHERE cluster = {cluster} AND group_id IN ({groups}) AND snapshot_time <= {as_of} AND lag > 0
  ) AS p
  ASOF JOIN repeated ON repeated.group_id = p.group_id AND repeated.name = p.name
    AND repeated.partition = p.partition AND repeated.from_time <= p.snapshot_time
  WHERE p.snapshot_time < coalesce(to_time, p.snapshot_time + INTERVAL 1 SECOND)
)
SELECT group_id, place AS partition, min(likely_time) AS "from", until AS "to", max(lag) AS lag
FROM waiting
GROUP BY group_id, place, from_time, until, num_commits
HAVING (num_commits - 1) * epoch_ms(until - min(sure_time)) >= 10 * epoch_ms(until - from_time)
-- The longest and newest, as many as one can look at.
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY until - "from" DESC, until DESC, place) <= 40
ORDER BY group_id, partition, "from"
