-- Partitions with messages that were deleted before the group read them: the committed offset is still below the start
-- of the log, or was at a snapshot. Snapshots in a row that show a loss are one event, which began at the first of
-- them. One row per partition and event, with the largest loss.
WITH losing AS (
  SELECT DISTINCT group_id, topic, partition
  FROM lag_points
  WHERE cluster = :cluster AND lost_messages > 0 AND snapshot_time <= :as_of_time
),
known AS (
  SELECT points.group_id, points.topic, points.partition, snapshot_time, lost_messages, log_start_offset,
    {evidence},
    max(snapshot_time) OVER (PARTITION BY points.group_id, points.topic, points.partition) AS newest_time,
    sum(CASE WHEN lost_messages > 0 THEN 0 ELSE 1 END) OVER (
      PARTITION BY points.group_id, points.topic, points.partition ORDER BY snapshot_time
    ) AS num_ends
  FROM lag_points AS points
  JOIN losing ON losing.group_id = points.group_id AND losing.topic = points.topic
    AND losing.partition = points.partition
  WHERE points.cluster = :cluster AND lost_messages IS NOT NULL AND snapshot_time <= :as_of_time
),
standing AS (
  -- A group that was deleted or has moved on has no points of its own that say so.
  SELECT DISTINCT known.group_id, known.topic, known.partition, num_ends
  FROM known
  JOIN offset_history AS held ON held.group_id = known.group_id AND held.topic = known.topic
    AND held.partition = known.partition AND held.committed_offset < known.log_start_offset
  WHERE held.cluster = :cluster AND lost_messages > 0 AND snapshot_time = newest_time
    AND (held.from_time IS NULL OR held.from_time <= :as_of_time)
    AND (held.to_record_offset IS NULL OR held.to_time > :as_of_time)
),
counting AS (
  SELECT known.*, standing.num_ends IS NOT NULL AS is_standing,
    min(snapshot_time) OVER (
      PARTITION BY known.group_id, known.topic, known.partition, known.num_ends
    ) AS begin_time,
    max(snapshot_time) OVER (
      PARTITION BY known.group_id, known.topic, known.partition, known.num_ends
    ) AS end_time,
    row_number() OVER (
      PARTITION BY known.group_id, known.topic, known.partition, known.num_ends
      ORDER BY lost_messages DESC, snapshot_time DESC
    ) AS place
  FROM known
  LEFT JOIN standing ON standing.group_id = known.group_id AND standing.topic = known.topic
    AND standing.partition = known.partition AND standing.num_ends = known.num_ends
  WHERE lost_messages > 0 AND (snapshot_time <= :until_time OR standing.num_ends IS NOT NULL)
)
SELECT group_id, topic, partition, CASE WHEN NOT is_standing THEN begin_time END AS at_time,
  CASE WHEN NOT is_standing THEN end_time END AS last_time,
  topic || '-' || CAST(partition AS STRING) || ': ' || CAST(lost_messages AS STRING)
    || CASE lost_messages WHEN 1 THEN ' message was deleted before the group read it'
      ELSE ' messages were deleted before the group read them' END AS message,
  {evidence}, {harm lost_messages}
FROM counting
WHERE place = 1
