"""Texts that findings share: what history says of the as-of time.

`{held TABLE}` is a subquery of the intervals of that table that hold then. The others are common table expressions of
their names: `{held_states}`, the state of each group then; and after it `{newest_assignments}`, the newest assignment
of each group that has members then. Its `held_state` is the group's state; `is_sure`: whether it is certain that the
state held then. A state that ended later may have ended earlier, if records are missing. `{may_exist}` is a condition:
a topic can have a partition of this number.
"""

import re

from schemas.views.groups.partition_coverage import MAY_EXIST
from schemas.views.parts import one_state_each

HELD = re.compile(r"\{held (\w+)\}")
NEWEST_ASSIGNMENTS = """\
newest_assignments AS (
  SELECT assignments.*, states.state AS held_state, states.to_offset IS NULL OR states.is_to_exact AS is_sure
  FROM assignment_audit AS assignments
  JOIN (
    SELECT group_id, evidence_partition, max(assignment_offset) AS assignment_offset
    FROM assignment_audit
    WHERE cluster = :cluster AND (record_time IS NULL OR record_time <= :as_of_time)
    GROUP BY group_id, evidence_partition
  ) AS newest ON newest.group_id = assignments.group_id AND newest.assignment_offset = assignments.assignment_offset
    AND newest.evidence_partition = assignments.evidence_partition
  JOIN held_states AS states ON states.group_id = assignments.group_id
    AND states.evidence_partition = assignments.evidence_partition AND states.num_members > 0
  WHERE assignments.cluster = :cluster
)"""
SHARED = {
    "{may_exist}": MAY_EXIST,
    "{held_states}": one_state_each("held_states", "{held group_state_intervals}"),
    "{newest_assignments}": NEWEST_ASSIGNMENTS,
}


def with_held_rows(sql: str) -> str:
    for name, text in SHARED.items():
        sql = sql.replace(name, text)
    return HELD.sub(lambda name: held(name[1]), sql)


def held(table: str) -> str:
    """Two scans of few rows each: the bounds in files tell which have rows without an end, and rows that ended later.
    No engine draws that conclusion from one condition with OR."""
    begun = "cluster = :cluster AND (from_time IS NULL OR from_time <= :as_of_time)"
    return f"""(
    SELECT * FROM {table} WHERE {begun} AND to_offset IS NULL
    UNION ALL
    SELECT * FROM {table} WHERE {begun} AND to_offset IS NOT NULL AND to_time > :as_of_time
  )"""
