-- Groups with members that leave partitions of subscribed topics without an owner: since their newest assignment, or
-- since a later snapshot that shows new partitions. What a leader with old metadata left out is another finding.
WITH {held_states},
{newest_assignments},
{stale_assignments},
audited AS (
  SELECT * FROM newest_assignments WHERE held_state = 'Stable'
),
owned AS (
  SELECT DISTINCT stays.group_id, stays.topic, stays.partition
  FROM {held ownership_intervals} AS stays
  JOIN held_states AS states ON {same_group states, stays}
  WHERE stays.group_type IN ('classic', 'consumer')
),
captured AS (
  -- A recreated topic has another id.
  SELECT topic, coalesce(topic_id, '') AS id, partition, min(captured_time) AS since_time,
    max(captured_time) AS newest_time
  FROM topic_snapshots
  WHERE cluster = :cluster AND captured_time <= :as_of_time
  GROUP BY topic, coalesce(topic_id, ''), partition
),
newest_snapshots AS (
  SELECT topic, max(newest_time) AS newest_time FROM captured GROUP BY topic
),
shown AS (
  SELECT captured.topic, captured.partition, captured.since_time,
    max(captured.partition) OVER (PARTITION BY captured.topic) AS last_partition
  FROM captured
  JOIN newest_snapshots ON newest_snapshots.topic = captured.topic
    AND newest_snapshots.newest_time = captured.newest_time
  WHERE captured.topic IN (
    SELECT topic FROM topics
    WHERE cluster = :cluster AND (from_time IS NULL OR from_time <= :as_of_time)
      AND (to_time IS NULL OR to_time > :as_of_time)
  )
),
named AS (
  SELECT topic, max(partition) AS last_partition
  FROM (
    SELECT topic, partition FROM owned
    UNION ALL
    SELECT topic, partition FROM {held offset_history} AS offsets
  ) AS of_records
  WHERE {may_exist}
  GROUP BY topic
),
newest_members AS (
  SELECT listed.group_id, listed.evidence_partition, max(listed.assignment_offset) AS assignment_offset
  FROM generation_members AS listed
  JOIN audited ON audited.group_id = listed.group_id AND audited.evidence_partition = listed.evidence_partition
  WHERE listed.cluster = :cluster AND listed.assignment_offset <= audited.assignment_offset
  GROUP BY listed.group_id, listed.evidence_partition
),
members AS (
  SELECT listed.group_id, listed.subscribed_topics, listed.assigned
  FROM generation_members AS listed
  JOIN newest_members ON {same_group newest_members, listed}
    AND newest_members.assignment_offset = listed.assignment_offset
  WHERE listed.cluster = :cluster AND listed.change <> 'left'
),
unclear AS (
  -- Their members may own partitions that no row names.
  SELECT group_id FROM members WHERE assigned IS NULL
  UNION
  SELECT group_id FROM owned WHERE topic IS NULL
),
readers AS (
  SELECT owned.group_id, owned.topic
  FROM owned
  JOIN members ON members.group_id = owned.group_id AND array_position(members.subscribed_topics, owned.topic) > 0
  WHERE owned.group_id NOT IN (SELECT group_id FROM unclear)
  GROUP BY owned.group_id, owned.topic
),
known AS (
  SELECT offsets_partition, max(to_time) AS to_time
  FROM history_coverage
  WHERE cluster = :cluster
  GROUP BY offsets_partition
),
counted AS (
  -- A snapshot that lacks partitions that records name is stale: it shows nothing.
  SELECT readers.group_id, count(*) AS num_partitions,
    count(CASE WHEN owned.group_id IS NULL THEN 1 END) AS num_unowned,
    max(CASE WHEN owned.group_id IS NULL THEN shown.since_time END) AS since_time
  FROM readers
  JOIN shown ON shown.topic = readers.topic
  JOIN named ON named.topic = readers.topic AND named.last_partition <= shown.last_partition
  LEFT JOIN owned ON owned.group_id = readers.group_id AND owned.topic = shown.topic
    AND owned.partition = shown.partition
  GROUP BY readers.group_id
),
timed AS (
  SELECT audited.*, counted.num_partitions AS num_now, counted.num_unowned AS num_unowned_now,
    CASE WHEN counted.since_time > audited.record_time THEN counted.since_time ELSE audited.record_time END
      AS since_time, known.to_time AS known_time
  FROM audited
  LEFT JOIN counted ON counted.group_id = audited.group_id
  LEFT JOIN known ON known.offsets_partition = audited.evidence_partition
),
judged AS (
  -- Clients notice new partitions within metadata.max.age.ms, 5 minutes by default. Until then, or if the log is not
  -- known for so long, a rebalance may still follow.
  SELECT timed.*, coalesce(num_unowned_now > coalesce(num_unowned, 0)
    AND since_time < :as_of_time - INTERVAL '5' MINUTE AND since_time < known_time - INTERVAL '5' MINUTE, FALSE)
    AS is_by_snapshot
  FROM timed
),
listed AS (
  SELECT group_id, evidence_partition, evidence_first_offset, evidence_last_offset, is_by_snapshot,
    CASE WHEN confidence = 'certain' AND NOT is_sure THEN 'likely' ELSE confidence END AS confidence,
    CASE WHEN is_by_snapshot THEN num_unowned_now ELSE num_unowned END AS num_without,
    CASE WHEN is_by_snapshot THEN num_now ELSE num_partitions END AS num_all,
    CASE WHEN is_by_snapshot THEN since_time ELSE record_time END AS from_time
  FROM judged
)
SELECT {about_group group_id}, {lasting},
  CAST(num_without AS STRING) || ' of ' || coalesce(CAST(num_all AS STRING), '?')
    || CASE num_all WHEN 1 THEN ' partition' ELSE ' partitions' END || ' of its topics '
    || CASE num_without WHEN 1 THEN 'has' ELSE 'have' END || ' had no owner since '
    || coalesce({second from_time}, '?') AS message,
  {evidence}, {harm num_without}
FROM listed
WHERE num_without > 0
  AND (is_by_snapshot OR group_id NOT IN (SELECT group_id FROM stale_now))
