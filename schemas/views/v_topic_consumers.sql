-- Which groups read each topic, with their clients: by subscription, by commits or both. Which applications read this
-- topic?
-- reads: offset_history ownership_intervals generation_members topics history_coverage topic_snapshots
--   +offset_history: cluster
--   topic string  The topic.
--   +offset_history: group_id
--   client_ids [string]  Client ids of members that owned partitions of the topic; NULL: no member did.
--   client_hosts [string]  Addresses of these members as Java prints them; NULL: no member owned partitions of the
--       topic.
--   first_seen_time timestamp  Time of the first commit for the topic, or of the first ownership; NULL: only
--       subscribed.
--   last_seen_time timestamp  Time of the last commit or ownership. While a member owns partitions of the topic:
--       as_of_time.
--   num_partitions_committed bigint  Partitions with a committed offset now.
--   num_partitions_owned bigint  Partitions that members own now.
--   is_subscribed boolean  Whether a member subscribes to the topic now; NULL: the group has no members, or not every
--       subscription is known.
--   is_subscribed_only boolean  TRUE: the group subscribes to the topic and never committed an offset for it.
--   is_committed_only boolean  TRUE: the group has committed offsets for the topic, and no member subscribes to it.
--   +as_of
WITH {clusters},
committed AS (
  SELECT cluster, topic, group_id, min(commit_time) AS first_time, max(last_commit_time) AS last_time,
    count(DISTINCT CASE WHEN to_record_offset IS NULL THEN partition END) AS num_committed
  FROM offset_history
  GROUP BY cluster, topic, group_id
),
owned AS (
  SELECT cluster, topic, group_id, min(from_time) AS first_time, max(to_time) AS last_time,
    count(DISTINCT CASE WHEN to_record_offset IS NULL THEN partition END) AS num_owned,
    {distinct_values client_id} AS client_ids, {distinct_values client_host} AS client_hosts
  FROM ownership_intervals
  WHERE topic IS NOT NULL
  GROUP BY cluster, topic, group_id
),
{members},
counted AS (
  SELECT cluster, group_id, {how_many subscribed_topics IS NULL} AS num_unknown
  FROM members
  GROUP BY cluster, group_id
),
names AS (
  SELECT cluster, topic FROM topics
  UNION
  SELECT cluster, topic FROM offset_history
),
subscribed AS (
  SELECT DISTINCT members.cluster, names.topic, members.group_id
  FROM members
  JOIN names ON names.cluster = members.cluster AND array_position(subscribed_topics, names.topic) > 0
),
pairs AS (
  SELECT cluster, topic, group_id FROM committed
  UNION
  SELECT cluster, topic, group_id FROM owned
  UNION
  SELECT cluster, topic, group_id FROM subscribed
),
joined AS (
  SELECT pairs.cluster, pairs.topic, pairs.group_id, client_ids, client_hosts,
    committed.group_id IS NOT NULL AS has_committed,
    CASE WHEN committed.first_time < owned.first_time OR owned.first_time IS NULL THEN committed.first_time
      ELSE owned.first_time END AS first_seen_time,
    CASE WHEN num_owned > 0 THEN as_of_time
      WHEN committed.last_time > owned.last_time OR owned.last_time IS NULL THEN committed.last_time
      ELSE owned.last_time END AS last_seen_time,
    coalesce(num_committed, 0) AS num_partitions_committed, coalesce(num_owned, 0) AS num_partitions_owned,
    CASE WHEN subscribed.group_id IS NOT NULL OR num_owned > 0 THEN TRUE WHEN num_unknown = 0 THEN FALSE END
      AS is_subscribed,
    as_of_time, history_since_time
  FROM pairs
  LEFT JOIN clusters ON clusters.cluster = pairs.cluster
  LEFT JOIN committed ON committed.cluster = pairs.cluster AND committed.topic = pairs.topic
    AND committed.group_id = pairs.group_id
  LEFT JOIN owned ON owned.cluster = pairs.cluster AND owned.topic = pairs.topic AND owned.group_id = pairs.group_id
  LEFT JOIN subscribed ON subscribed.cluster = pairs.cluster AND subscribed.topic = pairs.topic
    AND subscribed.group_id = pairs.group_id
  LEFT JOIN counted ON counted.cluster = pairs.cluster AND counted.group_id = pairs.group_id
),
flagged AS (
  SELECT joined.*, coalesce(is_subscribed AND NOT has_committed, FALSE) AS is_subscribed_only,
    coalesce(NOT is_subscribed AND num_partitions_committed > 0, FALSE) AS is_committed_only
  FROM joined
)
SELECT {columns}
FROM flagged
ORDER BY cluster, topic, group_id
