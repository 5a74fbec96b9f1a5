"""The views v_rebalances and v_rebalance_causes: why groups rebalanced, and what it cost."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import (
    AS_OF,
    CLUSTERS,
    CLUSTERS_READ,
    RANK,
    UNREAD,
    UNREAD_SUMS,
    capped_total,
    column_list,
    seconds_between,
    total,
    wide,
)
from schemas.words.history import TIMED_OUT

CHANGED = (
    Column(
        "changed_member_id", Type.STRING, "A member that joined, left or restarted, the first by member id; NULL: none."
    ),
    Column("changed_client_id", Type.STRING, "Client id of that member."),
    Column("changed_client_host", Type.STRING, "Host of that member."),
)
GAP = Column("commit_gap_ms", Type.BIGINT, "The largest commit_gap_ms of its partition_moves; NULL: none is known.")
IS_COMPLETE = Column(
    "is_complete",
    Type.BOOLEAN,
    "TRUE: no record of the log is missing from evidence_first_offset to the end of the range that was read.",
)

SO_FAR = Column(
    "unread_so_far_ms",
    Type.BIGINT,
    "If the group has no members, and nobody has had partitions since this rebalance took them from their owners: how "
    "long that was up to the as-of time, in whole seconds, summed over these partitions. It counts in the rank if a "
    "member timed out, or the group is down. NULL: there are none.",
)

REBALANCES_COLUMNS = (
    TABLES["rebalances"].columns[0],
    RANK,
    *TABLES["rebalances"].columns[1:],
    *CHANGED,
    GAP,
    IS_COMPLETE,
    SO_FAR,
    *AS_OF,
)
REBALANCES_READS = (
    "rebalances", "partition_moves", "generation_members", "membership_intervals", "group_state_intervals",
    "group_verdicts", *CLUSTERS_READ,
)  # fmt: skip
# What nobody has yet has no upper bound, but it was unread for so long already. What was stopped on purpose is not
# missed.
HARM = f"""CASE WHEN unread_so_far_ms IS NULL OR NOT is_missed THEN {wide("unread_partition_high_ms")}
    ELSE {wide("coalesce(unread_partition_high_ms, 0)")} + unread_so_far_ms END"""
TIMED_OUT_KINDS = ", ".join(f"'{kind.value}'" for kind in TIMED_OUT)
OWN = ", ".join(f"rebalance.{column.name}" for column in TABLES["rebalances"].columns)
REBALANCES_SQL = f"""\
WITH {CLUSTERS},
gaps AS (
  SELECT cluster, group_id, assignment_offset, max(commit_gap_ms) AS commit_gap_ms
  FROM partition_moves
  GROUP BY cluster, group_id, assignment_offset
),
changes AS (
  SELECT cluster, group_id, assignment_offset, min(member_id) AS changed_member_id
  FROM generation_members
  WHERE change <> 'kept'
  GROUP BY cluster, group_id, assignment_offset
),
clients AS (
  SELECT cluster, group_id, member_id, min(client_id) AS client_id, min(client_host) AS client_host
  FROM membership_intervals
  GROUP BY cluster, group_id, member_id
),
newest_moves AS (
  SELECT placed.*
  FROM (
    SELECT move.*, row_number() OVER (
      PARTITION BY cluster, group_id, evidence_partition, coalesce(topic, topic_id), partition ORDER BY move_offset DESC
    ) AS place
    FROM partition_moves AS move
    WHERE coalesce(role, 'active') = 'active'
  ) AS placed
  WHERE place = 1 AND to_member_id IS NULL
),
waiting AS (
  SELECT move.cluster, move.group_id, move.assignment_offset,
    {capped_total(f"1000 * {seconds_between('move_time', 'as_of_time')}")} AS unread_so_far_ms
  FROM newest_moves AS move
  JOIN group_state_intervals AS state ON state.cluster = move.cluster AND state.group_id = move.group_id
    AND state.evidence_partition = move.evidence_partition AND state.to_offset IS NULL AND state.num_members = 0
  JOIN clusters ON clusters.cluster = move.cluster
  WHERE move_time <= as_of_time
  GROUP BY move.cluster, move.group_id, move.assignment_offset
),
missed AS (
  SELECT rebalance.cluster, rebalance.group_id, rebalance.assignment_offset, rebalance.evidence_partition
  FROM rebalances AS rebalance
  JOIN membership_intervals AS stay ON stay.cluster = rebalance.cluster AND stay.group_id = rebalance.group_id
    AND stay.evidence_partition = rebalance.evidence_partition
    AND stay.to_offset BETWEEN rebalance.evidence_first_offset AND rebalance.evidence_last_offset
  WHERE stay.leave_kind IN ({TIMED_OUT_KINDS})
  GROUP BY rebalance.cluster, rebalance.group_id, rebalance.assignment_offset, rebalance.evidence_partition
),
newest_verdicts AS (
  SELECT cluster, group_id, max(CASE WHEN own_verdict = 'DOWN' THEN 1 ELSE 0 END) AS is_down
  FROM (
    SELECT verdict.*, max(as_of_time) OVER (PARTITION BY cluster) AS newest_time
    FROM group_verdicts AS verdict
    WHERE partition IS NULL
  ) AS verdicts
  WHERE as_of_time = newest_time
  GROUP BY cluster, group_id
),
joined AS (
  SELECT {OWN}, changes.changed_member_id, clients.client_id AS changed_client_id,
    clients.client_host AS changed_client_host, gaps.commit_gap_ms,
    rebalance.evidence_first_offset >= stretch.complete_from_offset AS is_complete, waiting.unread_so_far_ms,
    missed.group_id IS NOT NULL OR coalesce(newest_verdicts.is_down, 0) = 1 AS is_missed,
    clusters.as_of_time, clusters.history_since_time
  FROM rebalances AS rebalance
  LEFT JOIN clusters ON clusters.cluster = rebalance.cluster
  LEFT JOIN gaps ON gaps.cluster = rebalance.cluster AND gaps.group_id = rebalance.group_id
    AND gaps.assignment_offset = rebalance.assignment_offset
  LEFT JOIN changes ON changes.cluster = rebalance.cluster AND changes.group_id = rebalance.group_id
    AND changes.assignment_offset = rebalance.assignment_offset
  LEFT JOIN clients ON clients.cluster = rebalance.cluster AND clients.group_id = rebalance.group_id
    AND clients.member_id = changes.changed_member_id
  LEFT JOIN waiting ON waiting.cluster = rebalance.cluster AND waiting.group_id = rebalance.group_id
    AND waiting.assignment_offset = rebalance.assignment_offset
  LEFT JOIN missed ON missed.cluster = rebalance.cluster AND missed.group_id = rebalance.group_id
    AND missed.assignment_offset = rebalance.assignment_offset
    AND missed.evidence_partition = rebalance.evidence_partition
  LEFT JOIN newest_verdicts ON newest_verdicts.cluster = rebalance.cluster
    AND newest_verdicts.group_id = rebalance.group_id
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = rebalance.cluster
    AND stretch.offsets_partition = rebalance.evidence_partition
    AND rebalance.evidence_last_offset BETWEEN stretch.first_offset AND stretch.last_offset
),
ranked AS (
  SELECT joined.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY {HARM} DESC NULLS LAST,
    stopped_partition_ms DESC NULLS LAST, duration_ms DESC NULLS LAST, group_id, assignment_offset,
    evidence_partition) AS BIGINT) AS rank
  FROM joined
)
SELECT {column_list(REBALANCES_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""

CAUSES_COLUMNS = (
    TABLES["rebalances"].column("cluster"),
    RANK,
    TABLES["rebalances"].column("group_id"),
    TABLES["rebalances"].column("group_type"),
    TABLES["rebalances"].column("trigger"),
    Column("num_rebalances", Type.BIGINT, "Rebalances of the group with this trigger."),
    Column("share_of_group", Type.DOUBLE, "Share of these among all rebalances of the group, 0 to 1."),
    Column("num_certain", Type.BIGINT, "Of these, rebalances whose trigger is certain."),
    Column("first_start_time", Type.TIMESTAMP, "start_time of the first of these rebalances."),
    Column("last_start_time", Type.TIMESTAMP, "start_time of the last of these rebalances."),
    Column("duration_ms", Type.BIGINT, "Sum of duration_ms of these rebalances; NULL: all are open."),
    Column("longest_duration_ms", Type.BIGINT, "The largest duration_ms of these rebalances."),
    Column("num_moved", Type.BIGINT, "Partitions that moved from one member to another."),
    Column("stopped_partition_ms", Type.BIGINT, "Sum of the times in which partitions had no owner."),
    *UNREAD,
    *GROUPS["EVIDENCE"][:3],
    *AS_OF,
)
CAUSES_READS = ("rebalances", *CLUSTERS_READ)
CAUSES_SQL = f"""\
WITH {CLUSTERS},
causes AS (
  SELECT cluster, group_id, group_type, trigger, count(*) AS num_rebalances,
    {total("CASE WHEN confidence = 'certain' THEN 1 ELSE 0 END")} AS num_certain,
    min(start_time) AS first_start_time, max(start_time) AS last_start_time,
    {capped_total("duration_ms")} AS duration_ms, max(duration_ms) AS longest_duration_ms,
    {total("num_moved")} AS num_moved, {capped_total("stopped_partition_ms")} AS stopped_partition_ms,
    {UNREAD_SUMS},
    min(evidence_partition) AS evidence_partition, min(evidence_first_offset) AS evidence_first_offset,
    max(evidence_last_offset) AS evidence_last_offset
  FROM rebalances
  GROUP BY cluster, group_id, group_type, trigger
),
shared AS (
  SELECT causes.*, CAST(num_rebalances AS DOUBLE)
    / CAST(sum(num_rebalances) OVER (PARTITION BY cluster, group_id) AS DOUBLE) AS share_of_group
  FROM causes
),
ranked AS (
  SELECT shared.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY shared.cluster ORDER BY unread_partition_high_ms DESC NULLS LAST,
      stopped_partition_ms DESC NULLS LAST, num_rebalances DESC, group_id, group_type, trigger) AS BIGINT) AS rank
  FROM shared LEFT JOIN clusters ON clusters.cluster = shared.cluster
)
SELECT {column_list(CAUSES_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
