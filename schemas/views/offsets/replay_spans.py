"""The view v_replay_spans: how many messages of each topic were read again or skipped, by day."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, capped_total, column_list, total, wide

COLUMNS = (
    *GROUPS["CLUSTER"],
    RANK,
    Column("day_time", Type.TIMESTAMP, "The UTC day; NULL: the records have no time."),
    *map(TABLES["commit_findings"].column, ("topic", "topic_id")),
    Column("num_groups", Type.BIGINT, "Groups whose offsets moved."),
    Column("num_resets", Type.BIGINT, "Resets: rows of offset_resets."),
    Column(
        "num_rewinds",
        Type.BIGINT,
        "Rewinds: commits of a member below its previous commit, without a reset; from commit_findings.",
    ),
    Column(
        "messages_reread",
        Type.BIGINT,
        "Messages that are read again because of resets and rewinds; NULL: all are unknown.",
    ),
    Column("messages_skipped", Type.BIGINT, "Messages that are skipped because of resets; NULL: all are unknown."),
    Column(
        "num_unknown",
        Type.BIGINT,
        "Resets and rewinds for which neither messages_reread nor messages_skipped is known; the sums do not include "
        "them.",
    ),
    *AS_OF,
)
READS = ("offset_resets", "commit_findings", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
events AS (
  SELECT cluster, date_trunc('day', at_time) AS day_time, group_id, topic, topic_id, 1 AS num_resets,
    0 AS num_rewinds, messages_reread, messages_skipped
  FROM offset_resets
  UNION ALL
  SELECT cluster, day_time, group_id, topic, topic_id, 0 AS num_resets, num_commits AS num_rewinds,
    num_messages AS messages_reread, CAST(NULL AS BIGINT) AS messages_skipped
  FROM commit_findings
  WHERE kind = 'rewind'
),
summed AS (
  SELECT cluster, day_time, topic, topic_id, count(DISTINCT group_id) AS num_groups,
    {total("num_resets")} AS num_resets, {total("num_rewinds")} AS num_rewinds,
    {capped_total("messages_reread")} AS messages_reread,
    {capped_total("messages_skipped")} AS messages_skipped,
    {total("CASE WHEN messages_reread IS NULL AND messages_skipped IS NULL THEN 1 ELSE 0 END")} AS num_unknown
  FROM events
  GROUP BY cluster, day_time, topic, topic_id
),
ranked AS (
  SELECT summed.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY summed.cluster
      ORDER BY {wide("coalesce(messages_reread, 0)")} + {wide("coalesce(messages_skipped, 0)")} DESC, num_unknown DESC,
      day_time DESC NULLS LAST, topic NULLS LAST, topic_id NULLS LAST) AS BIGINT) AS rank
  FROM summed LEFT JOIN clusters ON clusters.cluster = summed.cluster
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
