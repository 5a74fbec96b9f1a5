"""The view v_assignment_audit: whether recorded assignments are those that Kafka's own assignors give."""

from dataclasses import replace

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list
from schemas.words.client_libraries import DIFFERENCES

# Engines have no common words to open lists of structs: they are in the table.
LEFT_OUT = ("cluster", "differences", "checks")
OWN = tuple(column for column in TABLES["assignment_audit"].columns if column.name not in LEFT_OUT)
COLUMNS = (
    TABLES["assignment_audit"].column("cluster"),
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
    Column(
        "leader_library",
        Type.STRING,
        "Classic groups: the client library that the leader probably uses: client_library of membership_intervals.",
    ),
    replace(TABLES["membership_intervals"].column("client_library_confidence"), name="leader_library_confidence"),
    Column(
        "library_difference",
        Type.STRING,
        "How the assignor of that library differs from Kafka's of the same name. NULL: nothing is known, or it is "
        "Kafka's own.",
    ),
    *AS_OF,
)
READS = ("assignment_audit", "rebalances", "membership_intervals", *CLUSTERS_READ)


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


DIFFERENT = " UNION ALL\n  ".join(
    f"SELECT {text(library)} AS library, {text(assignor)} AS assignor, {text(what)} AS difference"
    for (library, assignor), what in DIFFERENCES.items()
)
SQL = f"""\
WITH {CLUSTERS},
different AS (
  {DIFFERENT}
),
leaders AS (
  SELECT done.cluster, done.evidence_partition, done.group_id, done.assignment_offset, stay.client_library,
    stay.client_library_confidence
  FROM rebalances AS done
  JOIN membership_intervals AS stay ON stay.cluster = done.cluster AND stay.group_id = done.group_id
    AND stay.evidence_partition = done.evidence_partition AND stay.member_id = done.leader_after
    AND stay.from_offset <= done.assignment_offset
    AND (stay.to_offset IS NULL OR stay.to_offset > done.assignment_offset)
  WHERE done.group_type = 'classic'
),
joined AS (
  SELECT audited.cluster, {", ".join(f"audited.{column.name}" for column in OWN)},
    audited.moves_made - audited.moves_needed AS moves_too_many,
    audited.evidence_first_offset >= stretch.complete_from_offset AS is_complete,
    leaders.client_library AS leader_library, leaders.client_library_confidence AS leader_library_confidence,
    different.difference AS library_difference,
    clusters.as_of_time, clusters.history_since_time,
    CASE WHEN verdict = 'drift' AND known_defect IS NOT NULL THEN 1 WHEN verdict = 'drift' THEN 2
      WHEN verdict = 'stale_input' THEN 3 WHEN known_defect IS NOT NULL THEN 4
      WHEN verdict = 'not_recomputable' THEN 5 WHEN verdict = 'same_members_other_order' THEN 6
      WHEN verdict = 'same_unconfirmed' THEN 7 WHEN verdict = 'carried_over' THEN 8 ELSE 9 END AS severity
  FROM assignment_audit AS audited
  LEFT JOIN clusters ON clusters.cluster = audited.cluster
  LEFT JOIN leaders ON leaders.cluster = audited.cluster AND leaders.evidence_partition = audited.evidence_partition
    AND leaders.group_id = audited.group_id AND leaders.assignment_offset = audited.assignment_offset
  LEFT JOIN different ON different.library = leaders.client_library AND different.assignor = audited.assignor
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
