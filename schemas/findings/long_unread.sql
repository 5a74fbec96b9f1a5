-- Partitions that nobody read for longer than max_unread_ms, by an upper bound, which is rounded up, to tenths of a
-- second: before a rebalance, or the return of a static member, gave them to a member. One finding for each such event,
-- with the bounds of the partition that was unread longest. Time in which a group had no members counts if the last
-- ones timed out, or since it was down at an earlier as-of time: who left is missed by nobody. Of a new partition the
-- lower bound counts, since the upper one rests on how often snapshots are taken.
WITH absences AS (
  SELECT *
  FROM (
    SELECT group_id, evidence_partition, num_members, from_time, from_record_offset,
      lead(from_record_offset) OVER of_group AS back_offset, lag(num_members) OVER of_group AS num_before
    FROM group_state_intervals
    WHERE cluster = :cluster
    WINDOW of_group AS (PARTITION BY group_id, evidence_partition ORDER BY from_record_offset, from_time)
  ) AS states
  WHERE num_members = 0 AND num_before > 0
),
timed_out AS (
  SELECT DISTINCT group_id AS left_id, to_time AS left_time
  FROM membership_intervals
  WHERE cluster = :cluster AND leave_kind IN ({timed_out})
  UNION
  SELECT DISTINCT group_id, since_time FROM group_verdicts WHERE cluster = :cluster AND own_verdict = 'DOWN'
),
--- The move before, of the same partition, if it gave it to nobody.
moves AS (
  SELECT move.*,
    lag(CASE WHEN to_member_id IS NULL THEN move_offset END) OVER of_partition AS taken_offset,
    lag(CASE WHEN to_member_id IS NULL THEN move_time END) OVER of_partition AS taken_time
  FROM partition_moves AS move
  WHERE cluster = :cluster
  WINDOW of_partition AS (
    PARTITION BY group_id, evidence_partition, coalesce(topic, topic_id), partition, role ORDER BY move_offset
  )
),
worst AS (
  SELECT *
  FROM (
    SELECT moves.*, row_number() OVER (PARTITION BY moves.group_id, moves.evidence_partition, assignment_offset
      ORDER BY unread_high_ms DESC, unread_low_ms DESC, coalesce(topic, topic_id), partition) AS place,
      absences.from_time AS empty_time, left_time
    FROM moves
    LEFT JOIN absences ON {same_group absences, moves}
      AND absences.back_offset > taken_offset AND absences.from_record_offset < move_offset
    LEFT JOIN timed_out ON left_id = absences.group_id AND left_time = absences.from_time
    WHERE CASE WHEN unread_basis LIKE '{grown}%' THEN unread_low_ms ELSE unread_high_ms END > :max_unread_ms
      AND (absences.from_time IS NULL OR left_time IS NOT NULL)
  ) AS placed
  WHERE place = 1
),
told AS (
  SELECT worst.group_id, coalesce(taken_time, start_time, away_since_time, move_time) AS begin_time,
    coalesce(end_time, start_time, move_time) AS last_time, unread_low_ms, unread_high_ms,
    CASE WHEN empty_time IS NULL THEN '' ELSE 'the group had no members; then ' END
      || coalesce(trigger_detail, trigger, 'instance ' || stay.group_instance_id || ' came back',
        'its member came back') AS what,
    CAST((unread_low_ms - unread_low_ms % 100) / 100 AS BIGINT) AS low_tenths,
    CAST((unread_high_ms + 99 - (unread_high_ms + 99) % 100) / 100 AS BIGINT) AS high_tenths,
    worst.evidence_partition, worst.evidence_first_offset, worst.evidence_last_offset, worst.confidence
  FROM worst
  LEFT JOIN rebalances AS rebalance ON rebalance.cluster = :cluster AND {same_group rebalance, worst}
    AND rebalance.assignment_offset = worst.assignment_offset
  LEFT JOIN membership_intervals AS stay ON stay.cluster = :cluster AND {same_group stay, worst}
    AND stay.member_id = worst.from_member_id
    AND stay.to_record_offset = worst.assignment_offset
),
bounds AS (
  SELECT told.*,
    CASE WHEN unread_low_ms < 1000 THEN CAST(unread_low_ms AS STRING) || ' ms'
      ELSE CAST(CAST((low_tenths - low_tenths % 10) / 10 AS BIGINT) AS STRING) || '.'
        || CAST(low_tenths % 10 AS STRING) || ' s' END AS low,
    CASE WHEN unread_high_ms < 1000 THEN CAST(unread_high_ms AS STRING) || ' ms'
      ELSE CAST(CAST((high_tenths - high_tenths % 10) / 10 AS BIGINT) AS STRING) || '.'
        || CAST(high_tenths % 10 AS STRING) || ' s' END AS high
  FROM told
)
SELECT {about_group group_id}, begin_time AS at_time, last_time AS last_time, {day begin_time} AS event,
  CASE WHEN unread_low_ms = 0 THEN 'a partition may have been unread for up to ' || high
    WHEN low = high THEN 'a partition was unread for ' || high
    ELSE 'a partition was unread for ' || low || ' to ' || high END || ': ' || what AS message,
  {evidence}, {harm unread_high_ms}
FROM bounds
