"""The view v_inventory: every group that exists, those that nobody seems to use first."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import (
    AS_OF,
    CLUSTERS,
    CLUSTERS_READ,
    LIMITS_READ,
    PRESENT_STATES,
    RANK,
    column_list,
    limits,
    total,
)
from schemas.words.tool_groups import TOOL_GROUPS

STATE = ("group_type", "state", "protocol_type", "assignor", "num_members")
COLUMNS = (
    TABLES["group_state_intervals"].column("cluster"),
    RANK,
    TABLES["group_state_intervals"].column("group_id"),
    *map(TABLES["group_state_intervals"].column, STATE),
    Column("since_time", Type.TIMESTAMP, "Since when the group is in this state."),
    Column(
        "last_commit_time", Type.TIMESTAMP, "Time of the group's newest commit that took effect; NULL: none is known."
    ),
    Column("num_topics", Type.BIGINT, "Topics for which the group has a committed offset."),
    Column("num_offsets", Type.BIGINT, "Partitions for which the group has a committed offset."),
    Column(
        "is_dead",
        Type.BOOLEAN,
        "TRUE: the group has offsets, and had no member and no commit for longer than dead_group_days in [gate] of the "
        "settings. NULL: no run of `groupscope gate` has noted that setting yet. This is not Kafka's state Dead.",
    ),
    Column(
        "is_tool",
        Type.BOOLEAN,
        "TRUE: a group that a tool makes for itself, by the default patterns of [gate] tool_groups. Your own patterns "
        "do not count here.",
    ),
    *TABLES["group_state_intervals"].columns[-4:],
    *AS_OF,
)
READS = ("group_state_intervals", "offset_history", *LIMITS_READ, *CLUSTERS_READ)
IS_TOOL = "\n      OR ".join(each.condition("states.group_id") for each in TOOL_GROUPS)
SQL = f"""\
WITH {CLUSTERS},
{limits("dead_group_days")},
{PRESENT_STATES},
committed AS (
  SELECT cluster, group_id, evidence_partition AS place, max(last_commit_time) AS last_commit_time,
    count(DISTINCT CASE WHEN to_offset IS NULL THEN topic END) AS num_topics,
    {total("CASE WHEN to_offset IS NULL THEN 1 ELSE 0 END")} AS num_offsets
  FROM offset_history
  GROUP BY cluster, group_id, evidence_partition
),
joined AS (
  SELECT states.*, from_time AS since_time, last_commit_time, coalesce(num_topics, 0) AS num_topics,
    coalesce(num_offsets, 0) AS num_offsets, as_of_time, history_since_time,
    CASE WHEN dead_group_days IS NOT NULL
      THEN coalesce(num_members = 0 AND num_offsets > 0
        AND from_time < as_of_time - INTERVAL '1' DAY * dead_group_days
        AND last_commit_time < as_of_time - INTERVAL '1' DAY * dead_group_days, FALSE) END AS is_dead,
    {IS_TOOL} AS is_tool
  FROM present_states AS states
  LEFT JOIN clusters ON clusters.cluster = states.cluster
  LEFT JOIN limits ON limits.cluster = states.cluster
  LEFT JOIN committed ON committed.cluster = states.cluster AND committed.group_id = states.group_id
    AND committed.place = states.evidence_partition
),
ranked AS (
  SELECT joined.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY coalesce(is_dead, FALSE) DESC,
    num_members NULLS LAST, last_commit_time NULLS LAST, group_id, from_offset) AS BIGINT) AS rank
  FROM joined
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
