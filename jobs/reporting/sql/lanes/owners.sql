-- Both views of an owner: what the coordinator decided, and when nobody can have read, by the moves that say so.
WITH stays AS (
  SELECT o.group_id, place, coalesce(role, '') AS task, role, o.member_id, member, phase, from_time, to_time, ended_by,
    reader_certain_until_time, reader_doubt_from_time, from_record_offset, start_offset, commit_time
  FROM ownership_intervals AS o
  JOIN places ON places.group_id = o.group_id AND name = coalesce(o.topic, o.topic_id, '?')
    AND places.partition = o.partition
  LEFT JOIN ids ON ids.group_id = o.group_id AND ids.member_id = o.member_id
  WHERE o.cluster = {cluster} AND o.group_id IN ({groups}) AND from_time IS NOT NULL
),
-- Phases of one owner follow each other: a doubt of an earlier one holds for the last.
ended AS (
  SELECT group_id, place, task, to_time, coalesce(
    reader_doubt_from_time,
    CASE WHEN lag(member_id) OVER phases = member_id AND lag(to_time) OVER phases = from_time
      THEN lag(reader_doubt_from_time) OVER phases END
  ) AS doubt_time
  FROM stays
  WHERE to_time IS NOT NULL
  WINDOW phases AS (PARTITION BY group_id, place, task ORDER BY to_time, from_record_offset)
),
given AS (
  SELECT m.group_id, place, coalesce(role, '') AS task, role, move_time, move_offset, unread_high_ms,
    move_time - to_milliseconds(coalesce(unread_low_ms, 0)) AS last_time
  FROM partition_moves AS m
  JOIN places ON places.group_id = m.group_id AND name = coalesce(m.topic, m.topic_id, '?')
    AND places.partition = m.partition
  WHERE m.cluster = {cluster} AND m.group_id IN ({groups}) AND to_member_id IS NOT NULL AND move_time IS NOT NULL
    AND unread_high_ms > 0 AND coalesce(role, 'active') = 'active'
)
SELECT * EXCLUDE (event_offset)
FROM (
  SELECT group_id, place AS partition, coalesce(member, -1) AS member, FALSE AS is_reader, phase, from_time AS "from",
    to_time AS "to", role, ended_by,
    -- A whole number of seconds before its end: it is said to the second, and never too late.
    CASE WHEN to_time IS NULL THEN CASE WHEN commit_time >= from_time THEN commit_time END
      ELSE to_time - to_seconds(CAST(ceil(epoch_ms(to_time - reader_certain_until_time) / 1000.0) AS BIGINT))
    END AS certain_until, reader_doubt_from_time AS doubt_from, start_offset AS "offset", from_record_offset AS event_offset
  FROM stays
  UNION ALL
  SELECT given.group_id, given.place, -1, TRUE, NULL, last_time, move_time, role, NULL, NULL,
    least(coalesce(doubt_time, move_time - to_milliseconds(unread_high_ms)), last_time), NULL, move_offset
  FROM given
  ASOF LEFT JOIN ended ON ended.group_id = given.group_id AND ended.place = given.place AND ended.task = given.task
    AND ended.to_time <= given.move_time
  UNION ALL
  SELECT group_id, place, -1, TRUE, NULL, since, {until}, role, NULL, NULL, since, NULL, event_offset
  FROM away
  WHERE place IS NOT NULL
) AS views
ORDER BY group_id, is_reader, partition, "from", event_offset, "to", phase, role, member
