-- Of each partition: each offset, or where there are many the lowest, the highest and the last of a column of time. When
-- it was committed for the last time is a row too: of the newest offset, and of those of the group that were committed for longest.
WITH newest AS (
  SELECT group_id, place, max(from_record_offset) AS newest_offset FROM committed GROUP BY group_id, place
),
repeated AS (
  SELECT committed.*
  FROM committed
  JOIN newest USING (group_id, place)
  WHERE until > from_time
  QUALIFY from_record_offset = newest_offset OR row_number() OVER (
    PARTITION BY group_id ORDER BY until - from_time DESC, until DESC, place
  ) <= 40
),
every AS (
  SELECT committed.group_id, committed.place, committed.from_time, committed.until, committed.from_record_offset,
    committed.committed_offset, CASE WHEN repeated.place IS NULL THEN committed.num_commits ELSE 1 END AS num_commits
  FROM committed
  LEFT JOIN repeated USING (group_id, place, from_record_offset)
  WHERE committed.from_time IS NOT NULL
  UNION ALL
  SELECT group_id, place, until, until, from_record_offset, committed_offset, num_commits - 1
  FROM repeated
),
placed AS (
  SELECT every.*, CASE WHEN every.from_time <= spans.to_time THEN NULL
    ELSE (epoch_ms(every.from_time) - epoch_ms(bounds.from_time)) * num_columns
      // (epoch_ms(bounds.to_time) - epoch_ms(bounds.from_time) + 1) END AS in_column
  FROM every
  JOIN many_commits ON many_commits.group_id = every.group_id AND many_commits.place = every.place
  JOIN bounds ON bounds.group_id = every.group_id
  ASOF LEFT JOIN spans ON spans.group_id = every.group_id AND spans.from_time <= every.from_time
),
-- Where exact points lie between others of a column, these are several.
parted AS (
  SELECT *, sum(CASE WHEN in_column IS NULL THEN 1 ELSE 0 END) OVER (
      PARTITION BY group_id, place ORDER BY from_time, from_record_offset ROWS UNBOUNDED PRECEDING
    ) AS part
  FROM placed
)
SELECT group_id, partition, "at", since, "offset", count, until, low, high, points
FROM (
  SELECT group_id, place AS partition, from_time AS "at", from_time AS since, committed_offset AS "offset",
    num_commits::BIGINT AS count, until, committed_offset AS low, committed_offset AS high, 1 AS points,
    from_record_offset AS first_offset
  FROM every
  ANTI JOIN many_commits USING (group_id, place)
  UNION ALL
  SELECT group_id, place, max(from_time), min(from_time),
    last(committed_offset ORDER BY from_time, from_record_offset), sum(num_commits)::BIGINT, max(until),
    min(committed_offset), max(committed_offset), count(*), min(from_record_offset)
  FROM parted
  GROUP BY group_id, place, in_column, part
) AS shown
ORDER BY group_id, partition, "at", first_offset
