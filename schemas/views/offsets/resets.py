"""The view v_offset_resets: offsets that were moved or removed otherwise than by reading on, the costliest first."""

from schemas.tables import GROUPS, TABLES
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list, wide

COLUMNS = (
    TABLES["offset_resets"].column("cluster"),
    RANK,
    *map(TABLES["offset_resets"].column, ("group_id", "group_type", "topic", "topic_id", "at_time", "kind", "actor")),
    *map(TABLES["offset_resets"].column, ("num_partitions", "messages_reread", "messages_skipped", "signature_score")),
    TABLES["offset_resets"].column("num_members"),
    *GROUPS["EVIDENCE"],
    *AS_OF,
    *map(TABLES["offset_resets"].column, ("partitions", "from_offsets", "to_offsets")),
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
