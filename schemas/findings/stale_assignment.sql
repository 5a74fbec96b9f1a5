-- Groups whose leader assigned by old metadata, at the as-of time: what it left out of a topic and nobody has, and what
-- it assigned beyond. Messages wait that came after the committed offset, or since then where none is committed.
WITH {held_states},
{newest_assignments},
{stale_assignments},
owned AS (
  SELECT DISTINCT stays.group_id, stays.evidence_partition, stays.topic, stays.partition
  FROM {held ownership_intervals} AS stays
  WHERE stays.group_type = 'classic'
),
committed AS (
  SELECT offsets.group_id, offsets.evidence_partition, offsets.topic, offsets.partition,
    max(offsets.committed_offset) AS committed_offset
  FROM {held offset_history} AS offsets
  WHERE offsets.topic IN (SELECT topic FROM stale_assignments)
  GROUP BY offsets.group_id, offsets.evidence_partition, offsets.topic, offsets.partition
),
captured AS (
  SELECT topic, partition, captured_time, log_start_offset, log_end_offset
  FROM topic_snapshots
  WHERE cluster = :cluster AND captured_time <= :as_of_time AND topic IN (SELECT topic FROM stale_assignments)
),
newest_snapshots AS (
  SELECT topic, max(captured_time) AS newest_time FROM captured GROUP BY topic
),
shown AS (
  SELECT captured.*, max(captured.partition) OVER (PARTITION BY captured.topic) AS last_partition
  FROM captured
  JOIN newest_snapshots AS newest ON newest.topic = captured.topic AND newest.newest_time = captured.captured_time
),
ends_before AS (
  SELECT stale.group_id, stale.evidence_partition, captured.topic, captured.partition,
    max(captured.log_end_offset) AS log_end_offset
  FROM stale_assignments AS stale
  JOIN captured ON captured.topic = stale.topic AND captured.captured_time <= stale.since_time
  GROUP BY stale.group_id, stale.evidence_partition, captured.topic, captured.partition
),
unread AS (
  SELECT stale.group_id, stale.evidence_partition, stale.topic, shown.partition, log_start_offset,
    shown.log_end_offset, coalesce(committed.committed_offset, ends_before.log_end_offset) AS read_until
  FROM stale_assignments AS stale
  JOIN shown ON shown.topic = stale.topic
  LEFT JOIN owned ON {same_topic_of_group owned, stale} AND owned.partition = shown.partition
  LEFT JOIN committed ON {same_topic_of_group committed, stale} AND committed.partition = shown.partition
  LEFT JOIN ends_before ON {same_topic_of_group ends_before, stale} AND ends_before.partition = shown.partition
  WHERE owned.group_id IS NULL
),
concerned AS (
  SELECT group_id, evidence_partition, topic, partition,
    CASE WHEN log_end_offset <= read_until THEN 0 WHEN read_until < log_start_offset
      THEN log_end_offset - log_start_offset ELSE log_end_offset - read_until END AS num_waiting
  FROM unread
  UNION ALL
  SELECT DISTINCT stale.group_id, stale.evidence_partition, stale.topic, owned.partition, CAST(0 AS BIGINT)
  FROM stale_assignments AS stale
  JOIN shown ON shown.topic = stale.topic
  JOIN owned ON {same_topic_of_group owned, stale} AND owned.partition > shown.last_partition
),
counted AS (
  SELECT group_id, evidence_partition, topic, array_sort(array_agg(partition)) AS partitions,
    count(*) AS num_partitions, max(partition) AS last_partition, CAST(sum(num_waiting) AS BIGINT) AS num_waiting
  FROM concerned
  GROUP BY group_id, evidence_partition, topic
),
leaders AS (
  SELECT stale.group_id, stale.evidence_partition, stale.topic, max(done.leader_after) AS member_id,
    max(stay.client_id) AS client_id, max(stay.client_host) AS client_host
  FROM stale_assignments AS stale
  JOIN rebalances AS done ON done.cluster = :cluster AND {same_group done, stale}
    AND done.assignment_offset = stale.assignment_offset
  LEFT JOIN membership_intervals AS stay ON stay.cluster = :cluster AND {same_group stay, done}
    AND stay.member_id = done.leader_after
    AND stay.from_record_offset <= done.assignment_offset
    AND (stay.to_record_offset IS NULL OR stay.to_record_offset > done.assignment_offset)
  GROUP BY stale.group_id, stale.evidence_partition, stale.topic
)
SELECT stale.group_id, stale.topic,
  CASE WHEN counted.num_partitions = 1 THEN counted.last_partition END AS partition, counted.partitions AS partitions,
  {lasting}, stale.since_time AS since_time, counted.num_waiting AS messages_waiting,
  stale.reason || ', since ' || coalesce({second stale.since_time}, '?')
    || CASE WHEN counted.num_waiting IS NULL THEN '; how many messages wait is not known'
      WHEN counted.num_waiting = 1 THEN '; 1 message waits'
      WHEN counted.num_waiting > 0 THEN '; ' || CAST(counted.num_waiting AS STRING) || ' messages wait' ELSE '' END
    || coalesce('; the leader is ' || leaders.member_id || ' (' || leaders.client_id
      || coalesce(', ' || CASE WHEN leaders.client_host LIKE '/%' THEN substring(leaders.client_host, 2)
        ELSE leaders.client_host END, '') || ')', '; the leader is ' || leaders.member_id, '') AS message,
  stale.evidence_partition, stale.evidence_first_offset, stale.evidence_last_offset,
  CASE WHEN stale.confidence = 'certain' AND NOT stale.is_sure THEN 'likely' ELSE stale.confidence END AS confidence,
  CASE WHEN counted.num_waiting > 0 THEN 'critical' END AS severity,
  CAST(counted.num_partitions + coalesce(counted.num_waiting, 0) AS DOUBLE) AS harm
FROM stale_assignments AS stale
JOIN counted ON {same_topic_of_group counted, stale}
LEFT JOIN leaders ON {same_topic_of_group leaders, stale}
WHERE counted.num_partitions > 0
