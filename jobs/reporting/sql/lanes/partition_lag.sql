WITH placed AS (
  SELECT measured.*, CASE
      WHEN count(*) OVER (PARTITION BY measured.group_id, measured.place) <= {columns} OR snapshot_time <= spans.to_time
        THEN NULL
      ELSE (epoch_ms(snapshot_time) - epoch_ms(bounds.from_time)) * {columns}
        // (epoch_ms(bounds.to_time) - epoch_ms(bounds.from_time) + 1) END AS in_column
  FROM measured
  JOIN bounds ON bounds.group_id = measured.group_id
  ASOF LEFT JOIN spans ON spans.group_id = measured.group_id AND spans.from_time <= measured.snapshot_time
),
-- Where exact points lie between others of a column, these are several.
parted AS (
  SELECT *, sum(CASE WHEN in_column IS NULL THEN 1 ELSE 0 END) OVER (
      PARTITION BY group_id, place ORDER BY snapshot_time ROWS UNBOUNDED PRECEDING
    ) AS part
  FROM placed
)
SELECT group_id, place AS partition, max(snapshot_time) AS "at", min(snapshot_time) AS since, min(lag) AS low,
  max(lag) AS high, last(lag ORDER BY snapshot_time) AS last, count(*) AS points
FROM parted
GROUP BY group_id, place, in_column, part
ORDER BY group_id, place, "at"
