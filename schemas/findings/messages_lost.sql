-- Partitions with messages that were deleted before the group read them: the committed offset is still below the start
-- of the log, or was at a snapshot of the time that counts. One row per partition, with the largest loss.
WITH lost AS (
  SELECT group_id, topic, partition, snapshot_time, lost_messages, log_start_offset, evidence_partition,
    evidence_first_offset, evidence_last_offset, confidence
  FROM lag_points
  WHERE cluster = :cluster AND lost_messages > 0 AND snapshot_time <= :as_of_time
),
known AS (
  SELECT points.group_id, points.topic, points.partition, max(points.snapshot_time) AS newest_time
  FROM lag_points AS points
  JOIN (SELECT DISTINCT group_id, topic, partition FROM lost) AS losing ON losing.group_id = points.group_id
    AND losing.topic = points.topic AND losing.partition = points.partition
  WHERE points.cluster = :cluster AND points.lost_messages IS NOT NULL AND points.snapshot_time <= :as_of_time
  GROUP BY points.group_id, points.topic, points.partition
),
standing AS (
  -- A group that was deleted or has moved on has no points of its own that say so.
  SELECT DISTINCT lost.group_id, lost.topic, lost.partition, newest_time
  FROM lost
  JOIN known ON known.group_id = lost.group_id AND known.topic = lost.topic AND known.partition = lost.partition
    AND known.newest_time = lost.snapshot_time
  JOIN offset_history AS held ON held.group_id = lost.group_id AND held.topic = lost.topic
    AND held.partition = lost.partition AND held.committed_offset < lost.log_start_offset
  WHERE held.cluster = :cluster AND (held.from_time IS NULL OR held.from_time <= :as_of_time)
    AND (held.to_offset IS NULL OR held.to_time > :as_of_time)
),
counting AS (
  SELECT lost.*, CASE WHEN newest_time IS NULL THEN snapshot_time END AS at_time,
    row_number() OVER (
      PARTITION BY lost.group_id, lost.topic, lost.partition ORDER BY lost_messages DESC, snapshot_time DESC
    ) AS place
  FROM lost
  LEFT JOIN standing ON standing.group_id = lost.group_id AND standing.topic = lost.topic
    AND standing.partition = lost.partition
  WHERE snapshot_time = newest_time OR (snapshot_time > :since_time AND snapshot_time <= :until_time)
)
SELECT group_id, topic, partition, at_time,
  topic || '-' || CAST(partition AS STRING) || ': ' || CAST(lost_messages AS STRING)
    || CASE lost_messages WHEN 1 THEN ' message was deleted before the group read it'
      ELSE ' messages were deleted before the group read them' END AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(lost_messages AS DOUBLE) AS harm
FROM counting
WHERE place = 1
