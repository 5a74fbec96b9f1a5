"""The view v_rebalance_storms: rebalances of a group that follow one another soon, and whether that is a storm or what
somebody does on purpose: a restart or an upgrade of its members, one after the other.

What comes and goes is an identity: a static instance, else a client id at a host. Several members may have the same
one, such as the clients of a process or the pods behind one address. So its returns are compared with the most members
that it had at once. A member whose client is unknown is an identity of its own: that it came back cannot be said."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import (
    AS_OF,
    CLUSTERS,
    CLUSTERS_READ,
    LIMITS_READ,
    RANK,
    UNREAD,
    UNREAD_SUMS,
    capped_total,
    column_list,
    how_many,
    limits,
    seconds_between,
    total,
)
from schemas.words.history import MemberChange, RebalanceTrigger, StormKind

COLUMNS = (
    TABLES["rebalances"].column("cluster"),
    RANK,
    TABLES["rebalances"].column("group_id"),
    TABLES["rebalances"].column("group_type"),
    Column("kind", Type.STRING, "storm, rolling_restart or rolling_upgrade; dim_enum explains them."),
    Column("from_time", Type.TIMESTAMP, "Start of the first of these rebalances."),
    Column("to_time", Type.TIMESTAMP, "End of the last of these rebalances; its start, if it has not ended."),
    Column("num_rebalances", Type.BIGINT, "Rebalances that left a record."),
    Column(
        "num_generations",
        Type.BIGINT,
        "By how much the generation or target epoch rose during these rebalances. This includes rebalances that left "
        "no record.",
    ),
    Column(
        "generations_per_hour",
        Type.DOUBLE,
        "num_generations per hour; less than an hour counts as one hour.",
    ),
    Column("num_members_changed", Type.BIGINT, "Member ids that joined, left or restarted."),
    Column(
        "repeated_client_id",
        Type.STRING,
        "Client id with the most joins, leaves and restarts; NULL: no member changed.",
    ),
    Column("repeated_client_host", Type.STRING, "Host of that client."),
    Column("num_repeated", Type.BIGINT, "How often members of that client joined, left or restarted."),
    Column("rebalancing_ms", Type.BIGINT, "Sum of duration_ms: a lower bound for classic groups."),
    Column(
        "share_rebalancing",
        Type.DOUBLE,
        "rebalancing_ms divided by the time from from_time to to_time, in whole seconds; 0 to 1.",
    ),
    Column("stopped_partition_ms", Type.BIGINT, "Sum of the times in which partitions had no owner."),
    *UNREAD,
    *GROUPS["EVIDENCE"][:3],
    *AS_OF,
)
# A deployment, and one more that takes it back.
MOST_ROUNDS = 2
READS = ("rebalances", "generation_members", "membership_intervals", *LIMITS_READ, *CLUSTERS_READ)
# A group may have records in several offsets partitions, whose offsets say nothing of each other's order.
STREAK = ("cluster", "group_id", "evidence_partition", "streak")
IDENTITY = ("instance_id", "client_id", "client_host", "unknown_id")
STREAKS, IDENTITIES = ", ".join(STREAK), ", ".join((*STREAK, *IDENTITY))


def same(left: str, right: str, names: tuple[str, ...] = STREAK) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)


SQL = f"""\
WITH {CLUSTERS},
{limits("storm_rebalances", "storm_gap_s")},
followed AS (
  SELECT rebalances.*, storm_rebalances, storm_gap_s, lag(start_time) OVER (
    PARTITION BY rebalances.cluster, group_id, evidence_partition ORDER BY assignment_offset) AS before_time
  FROM rebalances
  JOIN limits ON limits.cluster = rebalances.cluster
  WHERE start_time IS NOT NULL
),
-- A group that was deleted and made anew is another one.
begun AS (
  SELECT followed.*, CASE WHEN start_time <= before_time + INTERVAL '1' SECOND * storm_gap_s
    AND trigger <> '{RebalanceTrigger.GROUP_CREATED}' THEN 0 ELSE 1 END AS is_first
  FROM followed
),
numbered AS (
  SELECT begun.*, sum(is_first) OVER (PARTITION BY cluster, group_id, evidence_partition ORDER BY assignment_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS streak
  FROM begun
),
streaks AS (
  SELECT {STREAKS}, max(group_type) AS group_type, count(*) AS num_rebalances,
    max(storm_rebalances) AS storm_rebalances, max(CASE WHEN is_first = 1 THEN start_time END) AS from_time,
    max(coalesce(end_time, start_time)) AS to_time,
    {total("CASE WHEN to_generation > from_generation THEN CAST(to_generation AS BIGINT) - from_generation ELSE 1 END")}
      AS num_generations,
    {how_many("is_follow_up")} AS num_follow_ups,
    {how_many(f"trigger = '{RebalanceTrigger.PROTOCOL_MIGRATION}' OR assignor_before <> assignor_after")}
      + count(DISTINCT group_type) - 1 AS num_upgrades,
    {capped_total("duration_ms")} AS rebalancing_ms, {capped_total("stopped_partition_ms")} AS stopped_partition_ms,
    {UNREAD_SUMS},
    min(evidence_first_offset) AS evidence_first_offset, max(evidence_last_offset) AS evidence_last_offset
  FROM numbered
  GROUP BY {STREAKS}
  HAVING count(*) >= max(storm_rebalances)
),
clients AS (
  SELECT cluster, group_id, evidence_partition, member_id, min(client_id) AS client_id,
    min(client_host) AS client_host
  FROM membership_intervals
  GROUP BY cluster, group_id, evidence_partition, member_id
),
members AS (
  SELECT {", ".join(f"numbered.{name}" for name in STREAK)}, numbered.assignment_offset, is_first, listed.member_id,
    change, client_id, client_host, group_instance_id AS instance_id
  FROM numbered
  JOIN streaks ON {same("streaks", "numbered")}
  JOIN generation_members AS listed ON {same("listed", "numbered", (*STREAK[:3], "assignment_offset"))}
    AND (listed.change <> '{MemberChange.KEPT}' OR is_first = 1)
  LEFT JOIN clients ON {same("clients", "listed", (*STREAK[:3], "member_id"))}
),
changed AS (
  SELECT {STREAKS}, count(DISTINCT member_id) AS num_members_changed,
    count(DISTINCT assignment_offset) AS num_with_changes
  FROM members
  WHERE change <> '{MemberChange.KEPT}'
  GROUP BY {STREAKS}
),
counted AS (
  SELECT {STREAKS}, client_id, client_host, count(*) AS num_repeated
  FROM members
  WHERE change <> '{MemberChange.KEPT}'
  GROUP BY {STREAKS}, client_id, client_host
),
repeated AS (
  SELECT counted.*, row_number() OVER (PARTITION BY {STREAKS}
    ORDER BY num_repeated DESC, client_id NULLS LAST, client_host NULLS LAST) AS place
  FROM counted
),
identified AS (
  SELECT {STREAKS}, assignment_offset, is_first, change, instance_id,
    CASE WHEN instance_id IS NULL THEN client_id END AS client_id,
    CASE WHEN instance_id IS NULL THEN client_host END AS client_host,
    CASE WHEN instance_id IS NULL AND (client_id IS NULL OR client_host IS NULL) THEN member_id END AS unknown_id
  FROM members
),
turns AS (
  SELECT {IDENTITIES}, assignment_offset,
    {how_many(f"change IN ('{MemberChange.LEFT}', '{MemberChange.RESTARTED}')")} AS num_gone,
    {how_many(f"change IN ('{MemberChange.JOINED}', '{MemberChange.RESTARTED}')")} AS num_come,
    {how_many(f"is_first = 1 AND change <> '{MemberChange.JOINED}'")} AS num_before
  FROM identified
  GROUP BY {IDENTITIES}, assignment_offset
),
balances AS (
  SELECT turns.*, sum(num_come - num_gone) OVER (PARTITION BY {IDENTITIES} ORDER BY assignment_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
  FROM turns
),
-- Who comes while as many are there as ever comes for the first time. Within a rebalance members leave before others
-- join.
sums AS (
  SELECT {IDENTITIES}, {total("num_come")} AS num_come,
    CASE WHEN max(balance) > 0 THEN max(balance) ELSE 0 END AS num_first_joins,
    CASE WHEN sum(num_before) > max(num_come - balance) THEN sum(num_before) ELSE max(num_come - balance) END
      AS num_before
  FROM balances
  GROUP BY {IDENTITIES}
),
returned AS (
  SELECT {STREAKS},
    {how_many(f"num_come - num_first_joins > {MOST_ROUNDS} * (num_before + num_first_joins)")} AS num_flapping
  FROM sums
  GROUP BY {STREAKS}
),
lengths AS (
  SELECT streaks.*, coalesce(num_members_changed, 0) AS num_members_changed, num_flapping,
    {seconds_between("from_time", "to_time")} AS length_s,
    num_rebalances - num_follow_ups - coalesce(num_with_changes, 0) AS num_without_changes
  FROM streaks
  LEFT JOIN changed ON {same("changed", "streaks")}
  LEFT JOIN returned ON {same("returned", "streaks")}
),
joined AS (
  SELECT storms.*,
    CASE WHEN num_flapping > 0 THEN '{StormKind.STORM}'
      -- Nobody restarts where most rebalances have the same members as the one before.
      WHEN num_without_changes >= storm_rebalances AND num_without_changes > num_rebalances - num_without_changes
        THEN '{StormKind.STORM}'
      WHEN num_upgrades > 0 THEN '{StormKind.ROLLING_UPGRADE}'
      ELSE '{StormKind.ROLLING_RESTART}' END AS kind,
    CAST(num_generations AS DOUBLE)
      / (CASE WHEN length_s > 3600 THEN CAST(length_s AS DOUBLE) / 3600 ELSE 1 END) AS generations_per_hour,
    CASE WHEN rebalancing_ms >= length_s * 1000 THEN 1
      ELSE CAST(rebalancing_ms AS DOUBLE) / CAST(length_s * 1000 AS DOUBLE) END AS share_rebalancing,
    repeated.client_id AS repeated_client_id, repeated.client_host AS repeated_client_host, repeated.num_repeated,
    as_of_time, history_since_time
  FROM lengths AS storms
  LEFT JOIN clusters ON clusters.cluster = storms.cluster
  LEFT JOIN repeated ON {same("repeated", "storms")} AND repeated.place = 1
),
ranked AS (
  SELECT joined.*, CAST(row_number() OVER (PARTITION BY cluster
    ORDER BY CASE kind WHEN '{StormKind.STORM}' THEN 1 ELSE 2 END, generations_per_hour DESC, num_rebalances DESC,
      group_id, from_time, evidence_partition) AS BIGINT) AS rank
  FROM joined
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
