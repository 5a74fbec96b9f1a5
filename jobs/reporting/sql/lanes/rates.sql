-- Messages a second, of buckets as long as a partition usually takes from one commit to the next, and at most a minute;
-- of long histories, of a column of time each, with the fastest of its minutes.
WITH commits AS (
  SELECT committed.group_id, from_time, greatest(coalesce(delta, 0), 0) AS delta,
    date_diff('millisecond', from_time, CASE WHEN removals.place IS NULL THEN committed.to_time ELSE next_time END) AS gap
  FROM committed
  LEFT JOIN removals USING (group_id, place, from_record_offset)
  WHERE from_time IS NOT NULL
),
sizes AS (
  SELECT commits.group_id, epoch_ms(bounds.from_time) AS begin_ms, epoch_ms(bounds.to_time) AS end_ms,
    least(60000, list_min(list_filter(
      [1000, 2000, 5000, 10000, 15000, 30000, 60000],
      lambda size: size >= least(60000, greatest(
        coalesce(median(gap) FILTER (WHERE gap > 0), 0), (epoch_ms(bounds.to_time) - epoch_ms(bounds.from_time)) / 300.0
      ))
    ))) AS size
  FROM commits
  JOIN bounds ON bounds.group_id = commits.group_id
  GROUP BY commits.group_id, bounds.from_time, bounds.to_time
),
steps AS (
  SELECT *, size * greatest(1, CAST(ceil((end_ms - begin_ms) / (
      size * CASE WHEN group_id IN ({troubled}) THEN {columns}.0 ELSE least({columns}, {room} * 2) * 1.0 END
    )) AS BIGINT)) AS step
  FROM sizes
),
-- By the bucket, then by the step.
read AS (
  SELECT group_id, at_ms // step * step AS at_ms, sum(messages) AS messages, max(messages) AS most
  FROM (
    SELECT commits.group_id, step, epoch_ms(from_time) // size * size AS at_ms, sum(delta) AS messages
    FROM commits
    JOIN steps ON steps.group_id = commits.group_id
    GROUP BY commits.group_id, step, 3
  ) AS buckets
  GROUP BY group_id, 2
),
-- As if messages had been written evenly between two snapshots.
written AS (
  SELECT group_id, epoch_ms(snapshot_time) AS at_ms, CASE WHEN num_ends = lead(num_ends) OVER later
    THEN greatest(lead(log_end) OVER later - log_end, 0) * 1000.0
      / greatest(1, epoch_ms(lead(snapshot_time) OVER later) - epoch_ms(snapshot_time)) END AS per_second
  FROM points
  WINDOW later AS (PARTITION BY group_id ORDER BY snapshot_time)
),
buckets AS (
  SELECT group_id, step, size, unnest(generate_series(begin_ms // step * step, end_ms, step)) AS at_ms FROM steps
)
SELECT buckets.group_id, make_timestamptz(buckets.at_ms * 1000) AS "at", step AS bucket,
  coalesce(messages, 0) * 1000.0 / step AS consumed, per_second AS produced, coalesce(most, 0) * 1000.0 / size AS most
FROM buckets
LEFT JOIN read ON read.group_id = buckets.group_id AND read.at_ms = buckets.at_ms
ASOF LEFT JOIN written ON written.group_id = buckets.group_id AND written.at_ms <= buckets.at_ms
ORDER BY buckets.group_id, buckets.at_ms
