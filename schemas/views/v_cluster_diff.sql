-- Committed offsets of each group on one cluster and on another, for all pairs of clusters in the warehouse: missing
-- offsets first, then the largest differences. Did the migration copy the offsets? Equal offsets are equal messages
-- only if both logs begin and end at the same offsets: see `basis`.
-- reads: offset_history history_coverage topic_snapshots
--   +offset_history: cluster
--   other_cluster string  The cluster that the row compares with. Each pair of clusters has one set of rows; the
--       column cluster has the name that is first in the alphabet.
--   +rank
--   +offset_history: group_id
--   topic string  The topic, which has the same name on both clusters.
--   partition int  The partition.
--   committed_offset bigint  Committed offset on the cluster; NULL: none.
--   other_committed_offset bigint  Committed offset on the other cluster; NULL: none.
--   log_end_offset bigint  End of the partition's log on the cluster, by its newest snapshot; NULL: not captured.
--   other_log_end_offset bigint  log_end_offset on the other cluster.
--   messages_left bigint  log_end_offset minus committed_offset; NULL: unknown.
--   other_messages_left bigint  messages_left on the other cluster.
--   difference bigint  Messages that a group reads again if it moves to the other cluster; negative: messages that it
--       skips. NULL: unknown. Exact only if basis is equal_ends.
--   basis string  How difference was computed; v_enums explains the values. MirrorMaker 2 records translated offsets
--       in topics of its own (checkpoints, offset-syncs), which Groupscope does not read.
--   last_commit_time timestamp  When the offset was last committed on the cluster.
--   other_last_commit_time timestamp  last_commit_time on the other cluster.
--   later_by_ms bigint  How much later other_last_commit_time is than last_commit_time, in milliseconds (whole
--       seconds only); negative: it is earlier.
--   as_of_time timestamp  The as-of time: time of the newest record or snapshot of the cluster.
--   other_as_of_time timestamp  as_of_time of the other cluster.
WITH {clusters},
{ends},
live AS (
  SELECT cluster, group_id, topic, partition, max(committed_offset) AS committed_offset,
    max(last_commit_time) AS last_commit_time
  FROM offset_history
  WHERE to_record_offset IS NULL
  GROUP BY cluster, group_id, topic, partition
),
pairs AS (
  SELECT one.cluster, two.cluster AS other_cluster, one.as_of_time, two.as_of_time AS other_as_of_time
  FROM clusters AS one JOIN clusters AS two ON one.cluster < two.cluster
),
compared AS (
  SELECT pairs.*, group_id, topic, partition FROM pairs JOIN live ON live.cluster = pairs.cluster
  UNION
  SELECT pairs.*, group_id, topic, partition FROM pairs JOIN live ON live.cluster = pairs.other_cluster
),
joined AS (
  SELECT compared.*, here.committed_offset, there.committed_offset AS other_committed_offset,
    here.last_commit_time, there.last_commit_time AS other_last_commit_time,
    ends.log_end_offset, others.log_end_offset AS other_log_end_offset,
    {difference ends.log_end_offset, here.committed_offset} AS messages_left,
    {difference others.log_end_offset, there.committed_offset} AS other_messages_left,
    ends.log_start_offset = others.log_start_offset AND ends.log_end_offset = others.log_end_offset AS has_equal_ends
  FROM compared
  LEFT JOIN live AS here ON here.cluster = compared.cluster AND here.group_id = compared.group_id
    AND here.topic = compared.topic AND here.partition = compared.partition
  LEFT JOIN live AS there ON there.cluster = compared.other_cluster AND there.group_id = compared.group_id
    AND there.topic = compared.topic AND there.partition = compared.partition
  LEFT JOIN ends ON ends.cluster = compared.cluster AND ends.topic = compared.topic
    AND ends.partition = compared.partition
  LEFT JOIN ends AS others ON others.cluster = compared.other_cluster AND others.topic = compared.topic
    AND others.partition = compared.partition
),
based AS (
  SELECT joined.*, {difference other_messages_left, messages_left} AS difference,
    CASE WHEN other_committed_offset IS NULL THEN 'only_here' WHEN committed_offset IS NULL THEN 'only_there'
      WHEN has_equal_ends THEN 'equal_ends' WHEN log_end_offset IS NULL OR other_log_end_offset IS NULL THEN 'no_ends'
      ELSE 'distance_to_end' END AS basis,
    1000 * {seconds_between last_commit_time, other_last_commit_time} AS later_by_ms
  FROM joined
),
ranked AS (
  SELECT based.*, CAST(row_number() OVER (PARTITION BY cluster, other_cluster
    ORDER BY CASE WHEN basis LIKE 'only%' THEN 0 ELSE 1 END, abs({wide difference}) DESC NULLS LAST, group_id, topic,
    partition) AS BIGINT) AS rank
  FROM based
)
SELECT {columns}
FROM ranked
ORDER BY cluster, other_cluster, rank
