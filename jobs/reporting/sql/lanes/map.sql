-- How a group stood in each column of time of the map: the worst state (down, nobody reads, rebalancing, empty, stable;
-- a small letter: for less than a tenth of the column), and the highest lag.
WITH stood AS (
  SELECT group_id, from_time, coalesce(to_time, {until}) AS to_time,
    CASE state WHEN 'Stable' THEN 5 WHEN 'Empty' THEN 4 ELSE 3 END AS rank
  FROM group_state_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
  UNION ALL
  SELECT group_id, since, {until}, 2 FROM silences
  UNION ALL
  SELECT group_id, greatest(since, empty_time), {until}, 1
  FROM silences
  LEFT JOIN (
    SELECT group_id AS empty_group, from_time AS empty_time
    FROM group_state_intervals
    WHERE cluster = {cluster} AND group_id IN ({groups}) AND state = 'Empty' AND to_record_offset IS NULL
  ) AS emptied ON empty_group = group_id
  WHERE is_down
  UNION ALL
  SELECT DISTINCT group_id, since, {until}, 2 FROM away WHERE place IS NOT NULL
  UNION ALL
  SELECT group_id, move_time - to_milliseconds(unread_low_ms), move_time, 2
  FROM partition_moves
  WHERE cluster = {cluster} AND group_id IN ({groups}) AND to_member_id IS NOT NULL AND unread_low_ms >= 10000
    AND move_time IS NOT NULL AND coalesce(role, 'active') = 'active'
),
spread AS (
  SELECT group_id, rank, from_ms, to_ms, unnest(range(
      greatest(0, least({map_columns} - 1, (from_ms - {first_ms}) // {width_ms})),
      greatest(0, least({map_columns} - 1, (to_ms - {first_ms}) // {width_ms})) + 1
    )) AS place
  FROM (SELECT group_id, rank, epoch_ms(from_time) AS from_ms, greatest(epoch_ms(to_time), epoch_ms(from_time)) AS to_ms
    FROM stood) AS whole
),
letters AS (
  SELECT group_id, place, arg_min(letter, rank) AS letter
  FROM (
    SELECT group_id, place, rank, CASE WHEN 10 * sum(
        least(to_ms, {first_ms} + (place + 1) * {width_ms}) - greatest(from_ms, {first_ms} + place * {width_ms})
      ) < {width_ms} THEN lower('DNRES'[rank]) ELSE 'DNRES'[rank] END AS letter
    FROM spread
    GROUP BY group_id, place, rank
  ) AS each_rank
  GROUP BY group_id, place
),
lags AS (
  SELECT group_id, greatest(0, least({map_columns} - 1, (epoch_ms(snapshot_time) - {first_ms}) // {width_ms})) AS place,
    max(lag) AS lag
  FROM points
  GROUP BY group_id, place
)
SELECT every.group_id, string_agg(coalesce(letter, '.'), '' ORDER BY every.place) AS letters,
  list(lag ORDER BY every.place) AS lag
FROM (SELECT group_id, unnest(range({map_columns})) AS place FROM bounds) AS every
LEFT JOIN letters ON letters.group_id = every.group_id AND letters.place = every.place
LEFT JOIN lags ON lags.group_id = every.group_id AND lags.place = every.place
GROUP BY every.group_id
ORDER BY every.group_id
