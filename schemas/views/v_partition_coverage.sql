-- Which partitions of each topic a group reads and which it leaves out, the most left out first. A topic that no group
-- reads has one row, with group_id NULL.
-- reads: offset_history ownership_intervals generation_members topics history_coverage topic_snapshots
--   +offset_history: cluster
--   +rank
--   topic string  The topic.
--   group_id string  A group that has committed offsets for the topic, owns partitions of it, or has a member that
--       subscribes to it; NULL: no group does.
--   num_partitions bigint  Partitions of the topic; NULL: no snapshot has the topic, so the lists may lack
--       partitions.
--   num_committed bigint  Partitions for which the group has a committed offset. Here and in the lists, numbers in
--       records that no partition can have do not count: below 0, or from 20,000,000 on.
--   num_owned bigint  Partitions that members of the group own.
--   uncommitted [int]  Partitions without a committed offset, ascending; NULL: none.
--   unowned [int]  Partitions without an owner, ascending; NULL: none.
--   +as_of
WITH {clusters},
{ends},
captured AS (
  SELECT DISTINCT ends.cluster, ends.topic, ends.partition
  FROM ends
  JOIN topics AS known ON known.cluster = ends.cluster AND known.topic = ends.topic AND known.to_time IS NULL
  WHERE ends.topic NOT IN ({internal_topics})
),
committed AS (
  SELECT DISTINCT cluster, topic, partition, group_id FROM offset_history WHERE to_record_offset IS NULL
),
owned AS (
  SELECT DISTINCT cluster, topic, partition, group_id
  FROM ownership_intervals
  WHERE to_record_offset IS NULL AND topic IS NOT NULL
),
{members},
names AS (
  SELECT DISTINCT cluster, topic FROM captured
),
readers AS (
  SELECT cluster, topic, group_id FROM committed
  UNION
  SELECT cluster, topic, group_id FROM owned
  UNION
  SELECT members.cluster, names.topic, members.group_id
  FROM members
  JOIN names ON names.cluster = members.cluster AND array_position(subscribed_topics, names.topic) > 0
),
partitions AS (
  SELECT cluster, topic, partition FROM captured
  UNION
  SELECT cluster, topic, partition FROM committed WHERE {may_exist}
  UNION
  SELECT cluster, topic, partition FROM owned WHERE {may_exist}
),
sizes AS (
  SELECT cluster, topic, count(*) AS num_partitions FROM captured GROUP BY cluster, topic
),
joined AS (
  SELECT partitions.cluster, partitions.topic, readers.group_id, partitions.partition,
    committed.group_id IS NOT NULL AS has_commit, owned.group_id IS NOT NULL AS has_owner
  FROM partitions
  LEFT JOIN readers ON readers.cluster = partitions.cluster AND readers.topic = partitions.topic
  LEFT JOIN committed ON committed.cluster = partitions.cluster AND committed.topic = partitions.topic
    AND committed.partition = partitions.partition AND committed.group_id = readers.group_id
  LEFT JOIN owned ON owned.cluster = partitions.cluster AND owned.topic = partitions.topic
    AND owned.partition = partitions.partition AND owned.group_id = readers.group_id
),
counted AS (
  SELECT cluster, topic, group_id, {how_many has_commit} AS num_committed, {how_many has_owner} AS num_owned,
    {how_many NOT has_commit} AS num_uncommitted, {partitions_where NOT has_commit} AS uncommitted,
    {partitions_where NOT has_owner} AS unowned
  FROM joined
  GROUP BY cluster, topic, group_id
),
ranked AS (
  SELECT counted.*, num_partitions, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY counted.cluster ORDER BY num_uncommitted DESC, counted.topic,
      group_id NULLS LAST) AS BIGINT) AS rank
  FROM counted
  LEFT JOIN clusters ON clusters.cluster = counted.cluster
  LEFT JOIN sizes ON sizes.cluster = counted.cluster AND sizes.topic = counted.topic
)
