"""The view v_offset_resets: offsets that were moved or removed otherwise than by reading on, the costliest first."""

from schemas.tables.events import OFFSET_RESETS
from schemas.tables.history_columns import EVIDENCE
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list, wide

COLUMNS = (
    OFFSET_RESETS.column("cluster"),
    RANK,
    *map(OFFSET_RESETS.column, ("group_id", "group_type", "topic", "topic_id", "at_time", "kind", "actor")),
    *map(OFFSET_RESETS.column, ("num_partitions", "messages_reread", "messages_skipped", "signature_score")),
    OFFSET_RESETS.column("num_members"),
    *EVIDENCE,
    *AS_OF,
    *map(OFFSET_RESETS.column, ("partitions", "from_offsets", "to_offsets")),
)
READS = ("offset_resets", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
ranked AS (
  SELECT resets.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY resets.cluster
      ORDER BY {wide("coalesce(messages_reread, 0)")} + {wide("coalesce(messages_skipped, 0)")} DESC,
        num_partitions DESC, group_id, topic NULLS LAST, topic_id NULLS LAST, evidence_first_offset, kind) AS BIGINT)
      AS rank
  FROM offset_resets AS resets
  LEFT JOIN clusters ON clusters.cluster = resets.cluster
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
