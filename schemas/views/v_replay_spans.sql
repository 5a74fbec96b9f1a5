-- Messages that are read again or skipped because offsets were moved, by topic and day, most messages first. Which data
-- was processed twice, or not at all?
-- reads: offset_resets odd_commits history_coverage topic_snapshots
--   +offset_resets: cluster
--   +rank
--   day_time timestamp  The UTC day; NULL: the records have no time.
--   +offset_resets: topic topic_id
--   num_groups bigint  Groups whose offsets moved.
--   num_resets bigint  Resets: rows of offset_resets.
--   num_rewinds bigint  Rewinds: commits of a member below its previous commit, without a reset; from
--       odd_commits.
--   messages_reread bigint  Messages that are read again because of resets and rewinds; NULL: all are unknown.
--   messages_skipped bigint  Messages that are skipped because of resets; NULL: all are unknown.
--   num_unknown bigint  Resets and rewinds for which neither messages_reread nor messages_skipped is known; the sums
--       do not include them.
--   +as_of
WITH {clusters},
events AS (
  SELECT cluster, date_trunc('day', at_time) AS day_time, group_id, topic, topic_id, 1 AS num_resets,
    0 AS num_rewinds, messages_reread, messages_skipped
  FROM offset_resets
  UNION ALL
  SELECT cluster, day_time, group_id, topic, topic_id, 0 AS num_resets, num_commits AS num_rewinds,
    num_messages AS messages_reread, CAST(NULL AS BIGINT) AS messages_skipped
  FROM odd_commits
  WHERE kind = 'rewind'
),
summed AS (
  SELECT cluster, day_time, topic, topic_id, count(DISTINCT group_id) AS num_groups,
    {total num_resets} AS num_resets, {total num_rewinds} AS num_rewinds,
    {capped_total messages_reread} AS messages_reread,
    {capped_total messages_skipped} AS messages_skipped,
    {total CASE WHEN messages_reread IS NULL AND messages_skipped IS NULL THEN 1 ELSE 0 END} AS num_unknown
  FROM events
  GROUP BY cluster, day_time, topic, topic_id
),
ranked AS (
  SELECT summed.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY summed.cluster
      ORDER BY {wide coalesce(messages_reread, 0)} + {wide coalesce(messages_skipped, 0)} DESC, num_unknown DESC,
      day_time DESC NULLS LAST, topic NULLS LAST, topic_id NULLS LAST) AS BIGINT) AS rank
  FROM summed LEFT JOIN clusters ON clusters.cluster = summed.cluster
)
