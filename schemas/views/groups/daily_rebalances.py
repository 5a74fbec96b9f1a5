"""The view rebalances_daily: rebalances by day, group and cause, with those metrics of the consumer itself (KIP-429)
that a log can give. How good each is stands in its comment: what no record tells, such as the time spent in listeners,
is not here."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import UNREAD, UNREAD_SUMS, capped_total, total

COLUMNS = (
    TABLES["rebalances"].column("cluster"),
    Column("day_time", Type.TIMESTAMP, "The UTC day on which the rebalances began or static members came back."),
    TABLES["rebalances"].column("group_id"),
    TABLES["rebalances"].column("group_type"),
    TABLES["rebalances"].column("trigger"),
    Column(
        "num_rebalances",
        Type.BIGINT,
        "Rebalances that left a record. Exact. 0: static members came back without one; the row has how long their "
        "partitions were unread.",
    ),
    Column("num_completed", Type.BIGINT, "Of these, those that completed. Exact."),
    Column(
        "num_follow_ups",
        Type.BIGINT,
        "Of these, cooperative follow-ups, which assign what the previous rebalance withheld. Exact.",
    ),
    Column(
        "rebalance_total",
        Type.BIGINT,
        "For the metric rebalance-total: by how much the generation rose. This includes rebalances that left no "
        "record. Upper bound.",
    ),
    Column(
        "failed_rebalance_total",
        Type.BIGINT,
        "For the metric failed-rebalance-total: rebalances that left no record, because they failed for the whole "
        "group. A client counts only its own failures.",
    ),
    Column(
        "rebalance_rate_per_hour",
        Type.DOUBLE,
        "For the metric rebalance-rate-per-hour: rebalance_total / 24. Lower bound if only a part of the day is known.",
    ),
    Column(
        "last_rebalance_time",
        Type.TIMESTAMP,
        "For the metric last-rebalance-seconds-ago, but as a time: end of the last completed rebalance, by the "
        "broker's clock.",
    ),
    Column("rebalance_ms", Type.BIGINT, "Sum of duration_ms. Classic: lower bound, since the join phase is not known."),
    Column(
        "longest_rebalance_ms",
        Type.BIGINT,
        "For the metric rebalance-latency-max: the longest duration_ms. Classic: lower bound.",
    ),
    Column(
        "sync_ms", Type.BIGINT, "Sum of sync_ms: how long leaders took to assign. Classic: exact by the broker's clock."
    ),
    Column(
        "longest_sync_ms",
        Type.BIGINT,
        "For the metric sync-time-max: the longest sync_ms. This is the time of the leader; the log does not show the "
        "times of other members.",
    ),
    Column(
        "assigned_partitions",
        Type.BIGINT,
        "For the metric assigned-partitions: the largest number of partitions that members of the group were "
        "assigned. Exact.",
    ),
    Column(
        "num_moved",
        Type.BIGINT,
        "Partitions that moved from one member to another. Exact. NULL: there is no rebalance.",
    ),
    Column("num_returned", Type.BIGINT, "Partitions that were revoked and reassigned to the same member. Exact."),
    Column(
        "num_withheld",
        Type.BIGINT,
        "Partitions that were withheld for the next rebalance (cooperative). Exact. That clients ran "
        "onPartitionsRevoked is likely.",
    ),
    Column(
        "num_ready_to_migrate",
        Type.BIGINT,
        "Partitions that were assigned at once, since no member claimed them. Exact. That clients ran "
        "onPartitionsAssigned is likely.",
    ),
    Column(
        "num_lost", Type.BIGINT, "Partitions that members lost: they rejoined with generation -1 and no claim. Likely."
    ),
    Column("stopped_partition_ms", Type.BIGINT, "Sum of the times in which partitions had no owner. Upper bound."),
    *UNREAD,
)
READS = ("rebalances", "partition_moves")
# Of a static member that came back without a rebalance, only its moves say for how long its partitions were unread.
COUNTED = (
    "outcome", "is_follow_up", "rounds", "unpersisted_rounds", "duration_ms", "sync_ms", "end_time", "num_partitions",
    "num_moved", "num_returned", "num_withheld", "num_ready_to_migrate", "num_lost",
)  # fmt: skip
SUMMED = ("stopped_partition_ms", "unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms")
SQL = f"""\
WITH lost AS (
  SELECT cluster, group_id, assignment_offset, count(*) AS num_lost
  FROM partition_moves
  WHERE kind = 'lost'
  GROUP BY cluster, group_id, assignment_offset
),
dated AS (
  SELECT rebalance.*, date_trunc('day', start_time) AS day_time, coalesce(num_lost, 0) AS num_lost,
    CASE WHEN to_generation > from_generation THEN CAST(to_generation AS BIGINT) - from_generation ELSE 1 END AS rounds
  FROM rebalances AS rebalance
  LEFT JOIN lost ON lost.cluster = rebalance.cluster AND lost.group_id = rebalance.group_id
    AND lost.assignment_offset = rebalance.assignment_offset
),
counted AS (
  SELECT cluster, day_time, group_id, group_type, trigger, 1 AS is_rebalance, {", ".join((*COUNTED, *SUMMED))}
  FROM dated
  UNION ALL
  SELECT move.cluster, date_trunc('day', move_time), move.group_id, move.group_type, 'static_restart', 0,
    {", ".join(f"NULL AS {name}" for name in COUNTED)},
    idle_ms, unread_low_ms, unread_high_ms, unread_high_ms
  FROM partition_moves AS move
  LEFT JOIN rebalances AS rebalance ON rebalance.cluster = move.cluster AND rebalance.group_id = move.group_id
    AND rebalance.assignment_offset = move.assignment_offset
  WHERE move.kind = 'returned' AND rebalance.assignment_offset IS NULL
)
SELECT cluster, day_time, group_id, group_type, trigger, {total("is_rebalance")} AS num_rebalances,
  {total("CASE WHEN outcome = 'completed' THEN 1 ELSE 0 END")} AS num_completed,
  {total("CASE WHEN is_follow_up THEN 1 ELSE 0 END")} AS num_follow_ups,
  {total("coalesce(rounds, 0)")} AS rebalance_total,
  {total("coalesce(unpersisted_rounds, 0)")} AS failed_rebalance_total,
  CAST(sum(coalesce(rounds, 0)) AS DOUBLE) / 24 AS rebalance_rate_per_hour,
  max(CASE WHEN outcome = 'completed' THEN end_time END) AS last_rebalance_time,
  {capped_total("duration_ms")} AS rebalance_ms, max(duration_ms) AS longest_rebalance_ms,
  {capped_total("sync_ms")} AS sync_ms, max(sync_ms) AS longest_sync_ms,
  CAST(max(num_partitions) AS BIGINT) AS assigned_partitions,
  {total("num_moved")} AS num_moved, {total("num_returned")} AS num_returned,
  {total("num_withheld")} AS num_withheld, {total("num_ready_to_migrate")} AS num_ready_to_migrate,
  {total("coalesce(num_lost, 0)")} AS num_lost, {capped_total("stopped_partition_ms")} AS stopped_partition_ms,
  {UNREAD_SUMS}
FROM counted
GROUP BY cluster, day_time, group_id, group_type, trigger
ORDER BY cluster, day_time DESC NULLS LAST, num_rebalances DESC, group_id, group_type, trigger
"""
