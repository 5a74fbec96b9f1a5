"""What views over the history share, some of it with findings: between which times a cluster is known, the present
states of groups, and lengths of time."""

from schemas.tables import Column, Type

# A common table expression: the contract's as-of is the newest record or snapshot.
CLUSTERS = """\
clusters AS (
  SELECT known.cluster, known.since_time AS history_since_time,
    CASE WHEN captured.newest_time > known.newest_time THEN captured.newest_time
      ELSE known.newest_time END AS as_of_time
  FROM (
    SELECT cluster, min(from_time) AS since_time, max(to_time) AS newest_time FROM history_coverage GROUP BY cluster
  ) AS known
  LEFT JOIN (
    SELECT cluster, max(captured_time) AS newest_time FROM topic_snapshots GROUP BY cluster
  ) AS captured ON captured.cluster = known.cluster
)"""
CLUSTERS_READ = ("history_coverage", "topic_snapshots")

# Of intervals that hold at a time. A group may have records in several offsets partitions: the one that it wrote to
# last is that of its coordinator.
NEWEST_PARTITION = """\
first_value(held.evidence_partition) OVER (
      PARTITION BY held.cluster, held.group_id ORDER BY held.from_time DESC NULLS LAST, held.evidence_partition
    )"""


def one_state_each(name: str, held: str) -> str:
    """A common table expression: one state of each group. `held`: a subquery of all states that hold at a time."""
    return f"""\
{name} AS (
  SELECT states.*
  FROM (
    SELECT held.*, {NEWEST_PARTITION} AS newest_partition
    FROM {held} AS held
  ) AS states
  WHERE evidence_partition = newest_partition
)"""


PRESENT_STATES = one_state_each("present_states", "(SELECT * FROM group_state_intervals WHERE to_offset IS NULL)")

# Members of the newest assignment of each group, with what they subscribe to.
MEMBERS = """\
newest AS (
  SELECT cluster, group_id, max(assignment_offset) AS assignment_offset
  FROM generation_members
  GROUP BY cluster, group_id
),
members AS (
  SELECT member.cluster, member.group_id, member.subscribed_topics
  FROM generation_members AS member
  JOIN newest ON newest.cluster = member.cluster AND newest.group_id = member.group_id
    AND newest.assignment_offset = member.assignment_offset
  WHERE member.change <> 'left'
)"""

# In `gate_runs` of a cluster: the run whose findings are shown, which is the newest whole one. While there is none, the
# newest narrowed one is.
SHOWN_RUN = "coalesce(max(CASE WHEN narrowed_by IS NULL THEN run_id END), max(run_id))"

RANK = Column("rank", Type.BIGINT, "1: the worst row of the cluster.")
AS_OF = (
    Column("as_of_time", Type.TIMESTAMP, "The as-of time: time of the newest record or snapshot of the cluster."),
    Column("history_since_time", Type.TIMESTAMP, "Time of the oldest record of the cluster."),
)

# What rebalances cost together.
UNREAD = (
    Column(
        "unread_partition_low_ms",
        Type.BIGINT,
        "Sum of unread_partition_low_ms of these rebalances; NULL: no partition stopped.",
    ),
    Column(
        "unread_partition_high_ms",
        Type.BIGINT,
        "Sum of unread_partition_high_ms of these rebalances; NULL: no partition stopped.",
    ),
    Column(
        "longest_unread_high_ms",
        Type.BIGINT,
        "The largest longest_unread_high_ms of these rebalances; NULL: no partition stopped.",
    ),
)


def seconds_between(earlier: str, later: str) -> str:
    """Whole seconds, as BIGINT: no engine has a finer difference in the words of the others."""
    length = f"({later} - {earlier})"
    parts = {"DAY": 86_400, "HOUR": 3_600, "MINUTE": 60, "SECOND": 1}
    # Spark multiplies as INT, which 69 years of seconds overflow.
    terms = [f"CAST(EXTRACT({part} FROM {length}) AS BIGINT) * {each}" for part, each in parts.items()]
    return f"({' + '.join(terms)})"


def total(column: str) -> str:
    """Engines differ in the type of a sum."""
    return f"CAST(sum({column}) AS BIGINT)"


# What a sum shows that does not fit into 64 bits: offsets may be as large as this.
LARGEST = 2**63 - 1


def wide(number: str) -> str:
    """For sums and differences of offsets, which may not fit into 64 bits."""
    return f"CAST({number} AS DECIMAL(38, 0))"


def capped_total(column: str) -> str:
    """A sum of offsets or times, at most `LARGEST`. NULL if all are NULL."""
    # Without `least`, which is NULL for a NULL on some engines and not on others.
    wide_sum = f"sum({wide(column)})"
    return f"CASE WHEN {wide_sum} > {LARGEST} THEN {LARGEST} ELSE CAST({wide_sum} AS BIGINT) END"


def difference(one: str, other: str) -> str:
    """NULL if it does not fit into 64 bits."""
    return f"TRY_CAST({wide(one)} - {wide(other)} AS BIGINT)"


def column_list(columns: tuple[Column, ...]) -> str:
    return ", ".join(column.name for column in columns)


UNREAD_SUMS = f"""\
{capped_total("unread_partition_low_ms")} AS unread_partition_low_ms,
    {capped_total("unread_partition_high_ms")} AS unread_partition_high_ms,
    max(longest_unread_high_ms) AS longest_unread_high_ms"""

LIMITS_READ = ("gate_limits",)


def limits(*names: str) -> str:
    """A common table expression: these settings of [gate], as the newest gate run of each cluster used them. A cluster
    without such a run has no row."""
    values = ",\n    ".join(f"max(CASE WHEN setting = '{name}' THEN value END) AS {name}" for name in names)
    return f"""\
limits AS (
  SELECT cluster, {values}
  FROM gate_limits
  GROUP BY cluster
)"""


# Settings of each cluster, of its newest snapshot that has any.
SETTINGS = """\
newest_settings AS (
  SELECT cluster, settings
  FROM (
    SELECT cluster, settings, row_number() OVER (PARTITION BY cluster ORDER BY captured_time DESC) AS place
    FROM cluster_snapshots
    WHERE settings IS NOT NULL
  ) AS placed
  WHERE place = 1
)"""
SETTINGS_READ = ("cluster_snapshots",)
# How logs of topics begin and end, of the newest snapshot that has the end of the partition.
ENDS = """\
ends AS (
  SELECT cluster, topic, partition, log_start_offset, log_end_offset
  FROM (
    SELECT cluster, topic, partition, log_start_offset, log_end_offset,
      row_number() OVER (PARTITION BY cluster, topic, partition ORDER BY captured_time DESC) AS place
    FROM topic_snapshots
    WHERE log_end_offset IS NOT NULL
  ) AS placed
  WHERE place = 1
)"""


def number_setting(name: str) -> str:
    """NULL where it is not captured. Trino fails for a key that a map does not have."""
    is_there = f"coalesce(array_position(map_keys(settings), '{name}'), 0) > 0"
    return f"TRY_CAST(CASE WHEN {is_there} THEN settings['{name}'] END AS BIGINT)"


def how_many(condition: str) -> str:
    """Rows for which it holds."""
    return total(f"CASE WHEN {condition} THEN 1 ELSE 0 END")
