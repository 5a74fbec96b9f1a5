-- Of the group: each snapshot, or where there are many the lowest, the highest and the last of a column of time.
WITH placed AS (
  SELECT points.*, CASE
      WHEN count(*) OVER (PARTITION BY points.group_id) <= {columns} OR snapshot_time <= spans.to_time THEN NULL
      ELSE (epoch_ms(snapshot_time) - epoch_ms(bounds.from_time)) * {columns}
        // (epoch_ms(bounds.to_time) - epoch_ms(bounds.from_time) + 1) END AS in_column
  FROM points
  JOIN bounds ON bounds.group_id = points.group_id
  ASOF LEFT JOIN spans ON spans.group_id = points.group_id AND spans.from_time <= points.snapshot_time
),
-- Where exact points lie between others of a column, these are several.
parted AS (
  SELECT *, sum(CASE WHEN in_column IS NULL THEN 1 ELSE 0 END) OVER (
      PARTITION BY group_id ORDER BY snapshot_time ROWS UNBOUNDED PRECEDING
    ) AS part
  FROM placed
),
kept AS (
  SELECT group_id, max(snapshot_time) AS "at", min(snapshot_time) AS since, min(low) AS low, max(high) AS high,
    last(lag ORDER BY snapshot_time) AS last, max(num_unknown) AS unknown, min(lag) AS least, max(lag) AS most,
    min(time_low) AS time_low, max(time_high) AS time_high, count(*) AS points, arg_max(name, high) AS name,
    arg_max(partition, high) AS partition
  FROM parted
  GROUP BY group_id, in_column, part
)
SELECT kept.group_id, "at", since, low, high, last, unknown, least, most, time_low, time_high, points,
  coalesce(place, -1) AS worst
FROM kept
LEFT JOIN places ON places.group_id = kept.group_id AND places.name = kept.name AND places.partition = kept.partition
ORDER BY kept.group_id, "at"
