"""The view v_assignment_audit: whether recorded assignments are those that Kafka's own assignors give."""

from schemas.declarations.columns import Column, Type
from schemas.tables.assignments import ASSIGNMENT_AUDIT
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list

# Engines have no common words to open lists of structs: they are in the table.
LEFT_OUT = ("cluster", "differences", "checks")
OWN = tuple(column for column in ASSIGNMENT_AUDIT.columns if column.name not in LEFT_OUT)
COLUMNS = (
    ASSIGNMENT_AUDIT.column("cluster"),
    RANK,
    *OWN,
    Column(
        "moves_too_many",
        Type.INT,
        "moves_made minus moves_needed: moves that a balanced assignment did not need; NULL: unknown.",
    ),
    Column(
        "is_complete",
        Type.BOOLEAN,
        "TRUE: no record of the log is missing from evidence_first_offset to the end of the range that was read.",
    ),
    *AS_OF,
)
READS = ("assignment_audit", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
joined AS (
  SELECT audited.cluster, {", ".join(f"audited.{column.name}" for column in OWN)},
    audited.moves_made - audited.moves_needed AS moves_too_many,
    audited.evidence_first_offset >= stretch.complete_from_offset AS is_complete,
    clusters.as_of_time, clusters.history_since_time,
    CASE WHEN verdict = 'drift' AND known_defect IS NOT NULL THEN 1 WHEN verdict = 'drift' THEN 2
      WHEN known_defect IS NOT NULL THEN 3 WHEN verdict = 'not_recomputable' THEN 4
      WHEN verdict = 'same_members_other_order' THEN 5 WHEN verdict = 'carried_over' THEN 6 ELSE 7 END AS severity
  FROM assignment_audit AS audited
  LEFT JOIN clusters ON clusters.cluster = audited.cluster
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = audited.cluster
    AND stretch.offsets_partition = audited.evidence_partition
    AND audited.evidence_last_offset BETWEEN stretch.first_offset AND stretch.last_offset
),
ranked AS (
  SELECT joined.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY severity, num_different DESC NULLS LAST,
    num_owned_twice DESC NULLS LAST, num_unowned DESC NULLS LAST, moves_too_many DESC NULLS LAST,
    record_time DESC NULLS LAST, group_id, assignment_offset) AS BIGINT) AS rank
  FROM joined
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
