"""The views v_groups_now and v_lag_now: what `groupscope status` shows. How each group, and each of its partitions, was
at the newest as-of time for which there are verdicts."""

from schemas.tables import TABLES, Column, Type
from schemas.views.offsets.verdicts import BADNESS
from schemas.views.parts import RANK, column_list, how_many, one_state_each

CLUSTER, GROUP_ID, AS_OF_TIME = map(TABLES["group_verdicts"].column, ("cluster", "group_id", "as_of_time"))
VERDICT = (
    Column("own_verdict", Type.STRING, "Lag verdict by Groupscope's rules; NULL: none, as the group has no committed "
           "offset and its members own no partition."),
    Column("rule", Type.STRING, "The rule that decided; dim_enum explains the values."),
    Column("reason", Type.STRING, "Why own_verdict has this value, in words with numbers."),
    *map(TABLES["group_verdicts"].column, ("since_time", "lag_floor", "time_lag_ms", "last_commit_time")),
)  # fmt: skip
GROUPS_COLUMNS = (
    CLUSTER,
    RANK,
    GROUP_ID,
    *map(TABLES["group_state_intervals"].column, ("group_type", "state", "num_members")),
    *VERDICT,
    Column("num_partitions", Type.BIGINT, "Partitions of the group that have a verdict."),
    Column("num_not_ok", Type.BIGINT, "Of num_partitions, those whose verdict is not OK."),
    Column("last_rebalance_time", Type.TIMESTAMP, "Start of the group's last rebalance; NULL: none is known."),
    Column("last_rebalance_trigger", Type.STRING, "What started that rebalance; dim_enum explains the values."),
    Column("last_rebalance_detail", Type.STRING, "Who or what that was, in words."),
    AS_OF_TIME,
)
LAG_COLUMNS = (
    CLUSTER,
    RANK,
    GROUP_ID,
    *map(TABLES["group_verdicts"].column, ("group_type", "topic", "topic_id", "partition")),
    *VERDICT,
    TABLES["offset_history"].column("committed_offset"),
    TABLES["topic_snapshots"].column("log_end_offset"),
    Column("end_time", Type.TIMESTAMP, "When the snapshot with log_end_offset was captured; NULL: none has it."),
    Column("owner_member_id", Type.STRING, "Member that owns the partition; NULL: none, or not known."),
    Column("owner_client_id", Type.STRING, "Client id of that member's connection."),
    Column("owner_client_host", Type.STRING, "That member's address as Java prints it."),
    AS_OF_TIME,
)
GROUPS_READS = ("group_verdicts", "group_state_intervals", "rebalances")
LAG_READS = ("group_verdicts", "offset_history", "ownership_intervals", "topic_snapshots")

# A group may have records in several offsets partitions: those that it wrote last count, as for findings.
JUDGED = """\
newest AS (
  SELECT cluster AS of_cluster, max(as_of_time) AS newest_time
  FROM group_verdicts
  GROUP BY cluster
),
judged AS (
  SELECT *
  FROM (
    SELECT verdicts.*, first_value(evidence_partition) OVER (
      PARTITION BY cluster, group_id ORDER BY last_commit_time DESC NULLS LAST, evidence_partition
    ) AS newest_partition
    FROM group_verdicts AS verdicts
    JOIN newest ON of_cluster = cluster AND newest_time = as_of_time
  ) AS placed
  WHERE evidence_partition = newest_partition
)"""


def held(table: str) -> str:
    """Intervals that hold at the as-of time."""
    return f"""(
    SELECT intervals.*
    FROM {table} AS intervals
    JOIN newest ON of_cluster = cluster
    WHERE (from_time IS NULL OR from_time <= newest_time) AND (to_offset IS NULL OR to_time > newest_time)
  )"""


def rank(order: str) -> str:
    # Groups without a verdict are last.
    return f"""\
CAST(row_number() OVER (PARTITION BY cluster ORDER BY CASE own_verdict {BADNESS} END NULLS LAST,
      lag_floor DESC NULLS LAST, {order}) AS BIGINT) AS rank"""


GROUPS_SQL = f"""\
WITH {JUDGED},
{one_state_each("states", held("group_state_intervals"))},
-- Without those that are gone: Burrow counts their commits for a while.
known AS (
  SELECT cluster, group_id FROM states
  UNION
  (SELECT cluster, group_id FROM judged
  EXCEPT
  SELECT cluster, group_id
  FROM group_state_intervals
  JOIN newest ON of_cluster = cluster
  WHERE from_time IS NULL OR from_time <= newest_time)
),
of_partitions AS (
  SELECT cluster, group_id, count(*) AS num_partitions,
    {how_many("own_verdict <> 'OK'")} AS num_not_ok
  FROM judged
  WHERE partition IS NOT NULL
  GROUP BY cluster, group_id
),
followed AS (
  SELECT cluster, group_id, start_time, trigger, trigger_detail,
    row_number() OVER (PARTITION BY cluster, group_id
      ORDER BY start_time DESC NULLS LAST, evidence_partition, assignment_offset DESC) AS place
  FROM rebalances
  JOIN newest ON of_cluster = cluster
  WHERE start_time <= newest_time
),
joined AS (
  SELECT known.cluster, known.group_id, coalesce(states.group_type, of_group.group_type) AS group_type, state,
    num_members, own_verdict, rule, reason, since_time, lag_floor, time_lag_ms, last_commit_time,
    coalesce(num_partitions, 0) AS num_partitions, coalesce(num_not_ok, 0) AS num_not_ok,
    followed.start_time AS last_rebalance_time, followed.trigger AS last_rebalance_trigger,
    followed.trigger_detail AS last_rebalance_detail, newest.newest_time AS as_of_time
  FROM known
  JOIN newest ON of_cluster = known.cluster
  LEFT JOIN states ON states.cluster = known.cluster AND states.group_id = known.group_id
  LEFT JOIN judged AS of_group ON of_group.cluster = known.cluster AND of_group.group_id = known.group_id
    AND of_group.partition IS NULL
  LEFT JOIN of_partitions ON of_partitions.cluster = known.cluster AND of_partitions.group_id = known.group_id
  LEFT JOIN followed ON followed.cluster = known.cluster AND followed.group_id = known.group_id AND place = 1
),
ranked AS (
  SELECT joined.*, {rank("group_id")}
  FROM joined
)
SELECT {column_list(GROUPS_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
SAME_PARTITION = """\
{0}.cluster = judged.cluster AND {0}.group_id = judged.group_id
    AND {0}.evidence_partition = judged.evidence_partition AND {0}.partition = judged.partition
    AND coalesce({0}.topic, {0}.topic_id) = coalesce(judged.topic, judged.topic_id) AND {0}.place = 1"""
NEWEST_STAY = """\
row_number() OVER (PARTITION BY cluster, group_id, evidence_partition, coalesce(topic, topic_id), partition
      ORDER BY from_offset DESC{}) AS place"""
LAG_SQL = f"""\
WITH {JUDGED},
committed AS (
  SELECT held.*, {NEWEST_STAY.format("")}
  FROM {held("offset_history")} AS held
),
owned AS (
  SELECT held.*, {NEWEST_STAY.format(", member_id")}
  FROM {held("ownership_intervals")} AS held
  WHERE phase <> 'held' AND group_type <> 'share' AND coalesce(role, 'active') = 'active'
),
ends AS (
  SELECT cluster, topic, topic_id, partition, captured_time, log_end_offset,
    row_number() OVER (PARTITION BY cluster, topic, partition ORDER BY captured_time DESC) AS place
  FROM topic_snapshots
  JOIN newest ON of_cluster = cluster
  WHERE captured_time <= newest_time AND log_end_offset IS NOT NULL
),
joined AS (
  SELECT judged.*, committed_offset, ends.log_end_offset, ends.captured_time AS end_time,
    member_id AS owner_member_id, client_id AS owner_client_id, client_host AS owner_client_host
  FROM judged
  LEFT JOIN committed ON {SAME_PARTITION.format("committed")}
  LEFT JOIN owned ON {SAME_PARTITION.format("owned")}
  LEFT JOIN ends ON ends.cluster = judged.cluster AND ends.topic = judged.topic AND ends.partition = judged.partition
    AND (ends.topic_id IS NULL OR judged.topic_id IS NULL OR ends.topic_id = judged.topic_id) AND ends.place = 1
  WHERE judged.partition IS NOT NULL
),
ranked AS (
  SELECT joined.*, {rank("group_id, topic NULLS FIRST, topic_id NULLS FIRST, partition")}
  FROM joined
)
SELECT {column_list(LAG_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
