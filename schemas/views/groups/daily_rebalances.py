"""The view rebalances_daily: rebalances by day, group and cause, with those metrics of the consumer itself (KIP-429)
that a log can give. How good each is stands in its comment: what no record tells, such as the time spent in listeners,
is not here."""

from schemas.declarations.columns import Column, Type
from schemas.tables.history import REBALANCES
from schemas.views.parts import UNREAD, UNREAD_SUMS, total

COLUMNS = (
    REBALANCES.column("cluster"),
    Column("day_time", Type.TIMESTAMP, "The day on which they began, in the time zone of the session."),
    REBALANCES.column("group_id"),
    REBALANCES.column("group_type"),
    REBALANCES.column("trigger"),
    Column("num_rebalances", Type.BIGINT, "Rebalances that left a record: exact."),
    Column("num_completed", Type.BIGINT, "Of these completed: exact."),
    Column("num_follow_ups", Type.BIGINT, "Of these those that hand out what the round before withheld: exact."),
    Column(
        "rebalance_total",
        Type.BIGINT,
        "As the metric rebalance-total: generations passed, those without a record too: an upper bound of rounds.",
    ),
    Column(
        "failed_rebalance_total",
        Type.BIGINT,
        "As failed-rebalance-total: rounds that left no record, lost for the whole group; a client counts its own.",
    ),
    Column(
        "rebalance_rate_per_hour",
        Type.DOUBLE,
        "As rebalance-rate-per-hour: rebalance_total by 24 hours: good; a lower bound where less of the day is known.",
    ),
    Column(
        "last_rebalance_time",
        Type.TIMESTAMP,
        "For last-rebalance-seconds-ago: end of the last completed one, by the broker's clock: good.",
    ),
    Column("rebalance_ms", Type.BIGINT, "Sum of durations. Classic: without the join phase, so a lower bound."),
    Column("longest_rebalance_ms", Type.BIGINT, "As rebalance-latency-max: the longest, likewise a lower bound."),
    Column("sync_ms", Type.BIGINT, "Sum of what leaders took to assign. Classic: exact by the broker's clock."),
    Column("longest_sync_ms", Type.BIGINT, "As sync-time-max, only of the leader: partial."),
    Column("assigned_partitions", Type.BIGINT, "As assigned-partitions: most that the group had assigned: exact."),
    Column("num_moved", Type.BIGINT, "Partitions that moved from one member to another: exact."),
    Column("num_returned", Type.BIGINT, "Revoked and reassigned to the same member: exact."),
    Column("num_withheld", Type.BIGINT, "Revoked for the next round (cooperative): exact, the callback likely."),
    Column("num_ready_to_migrate", Type.BIGINT, "Given at once, claimed by nobody: exact, the callback likely."),
    Column("num_lost", Type.BIGINT, "Lost by a member that came back without what it had: likely."),
    Column("stopped_partition_ms", Type.BIGINT, "Sum of the time in which partitions were unowned: an upper bound."),
    *UNREAD,
)
READS = ("rebalances", "partition_moves")
SQL = f"""\
WITH lost AS (
  SELECT cluster, group_id, assignment_offset, count(*) AS num_lost
  FROM partition_moves
  WHERE kind = 'lost'
  GROUP BY cluster, group_id, assignment_offset
),
dated AS (
  SELECT found.*, date_trunc('day', start_time) AS day_time, coalesce(num_lost, 0) AS num_lost,
    CASE WHEN to_generation > from_generation THEN to_generation - from_generation ELSE 1 END AS rounds
  FROM rebalances AS found
  LEFT JOIN lost ON lost.cluster = found.cluster AND lost.group_id = found.group_id
    AND lost.assignment_offset = found.assignment_offset
)
SELECT cluster, day_time, group_id, group_type, trigger, count(*) AS num_rebalances,
  {total("CASE WHEN outcome = 'completed' THEN 1 ELSE 0 END")} AS num_completed,
  {total("CASE WHEN is_follow_up THEN 1 ELSE 0 END")} AS num_follow_ups,
  {total("rounds")} AS rebalance_total,
  {total("coalesce(unpersisted_rounds, 0)")} AS failed_rebalance_total,
  CAST(sum(rounds) AS DOUBLE) / 24 AS rebalance_rate_per_hour,
  max(CASE WHEN outcome = 'completed' THEN end_time END) AS last_rebalance_time,
  {total("duration_ms")} AS rebalance_ms, max(duration_ms) AS longest_rebalance_ms,
  {total("sync_ms")} AS sync_ms, max(sync_ms) AS longest_sync_ms,
  CAST(max(num_partitions) AS BIGINT) AS assigned_partitions,
  {total("num_moved")} AS num_moved, {total("num_returned")} AS num_returned,
  {total("num_withheld")} AS num_withheld, {total("num_ready_to_migrate")} AS num_ready_to_migrate,
  {total("num_lost")} AS num_lost, {total("stopped_partition_ms")} AS stopped_partition_ms,
  {UNREAD_SUMS}
FROM dated
GROUP BY cluster, day_time, group_id, group_type, trigger
ORDER BY cluster, day_time DESC NULLS LAST, num_rebalances DESC, group_id, group_type, trigger
"""
