"""Lag of every group at every snapshot, rates and verdicts: written by `lag`."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.history_columns import EVIDENCE, GROUP, IS_OPEN, PARTITION, TOPIC, TOPIC_ID
from schemas.tables.record_columns import CLUSTER, GROUP_ID

JOB = "lag"
AS_OF_TIME = Column(
    "as_of_time", Type.TIMESTAMP, "The as-of time: the row shows the state at this time.", is_nullable=False
)
# Of rows about a time at which snapshots may have the topic.
TOPIC_ID_THEN = Column(
    "topic_id",
    Type.STRING,
    "The topic's id, 22 characters; NULL: neither the records nor snapshots of that time have it.",
)


def number(name: str, comment: str) -> Column:
    return Column(name, Type.BIGINT, comment)


def count(name: str, comment: str) -> Column:
    return Column(name, Type.BIGINT, comment, is_nullable=False)


def flag(name: str, comment: str) -> Column:
    return Column(name, Type.BOOLEAN, comment, is_nullable=False)


LAG_POINTS = Table(
    "lag_points",
    "group, topic partition and snapshot",
    "Points: lag of each group at each snapshot, in messages and in time. There is a point for each partition that "
    "has a committed offset, has an owner, or is of a subscribed topic.",
    ("cluster", "snapshot_time", "group_id", "topic", "topic_id", "partition"),
    # Neighbours are alike: that is quick to make and to write. A run adds later snapshots in files of their own.
    ("cluster", "group_id", "topic", "partition", "snapshot_time"),
    (
        CLUSTER,
        Column("snapshot_time", Type.TIMESTAMP, "When the snapshot was captured.", is_nullable=False),
        *GROUP,
        TOPIC,
        TOPIC_ID_THEN,
        PARTITION,
        IS_OPEN,
        number("committed_offset", "The committed offset in effect at that time; NULL: none, or not known."),
        number("log_start_offset", "First offset of the log at that time; NULL: not captured."),
        number(
            "log_end_offset",
            "End of the log in this snapshot. If this snapshot does not have it: in the newest earlier snapshot that "
            "does. NULL: none of them has it.",
        ),
        number("lag_raw", "log_end_offset minus committed_offset, which may be negative; NULL: unknown."),
        number("lag_floor", "lag_raw, or 0 if it is negative; NULL: unknown."),
        number(
            "lag_available",
            "Unread messages that still exist: log_end_offset minus the larger of committed_offset and "
            "log_start_offset, 0 or more; NULL: unknown.",
        ),
        number(
            "lost_messages",
            "Messages that were deleted before the group read them: log_start_offset minus committed_offset, 0 or "
            "more; NULL: unknown.",
        ),
        flag("no_commit", "TRUE: the group has no committed offset for the partition."),
        flag("committed_beyond_end", "TRUE: the committed offset is above the end of the log."),
        number(
            "lag_data",
            "Always NULL: reserved for a lag without control records and compacted offsets, which only the topic's "
            "own segments show.",
        ),
        flag("committed_negative", "TRUE: the committed offset is negative."),
        number(
            "snapshot_age_ms",
            "Age of log_end_offset: the time from the snapshot that it comes from to this snapshot, 0 if both are the "
            "same. NULL: no snapshot has the end offset.",
        ),
        Column(
            "leader_epoch", Type.INT, "Leader epoch in the commit; NULL: the commit has none, or there is no commit."
        ),
        number(
            "time_lag_ms",
            "Time lag: how long ago the oldest unread message that still exists was written; NULL: unknown.",
        ),
        number("time_lag_low_ms", "Lower bound of the time lag; NULL: unknown."),
        number("time_lag_high_ms", "Upper bound of the time lag; NULL: unknown."),
        Column(
            "time_lag_method",
            Type.STRING,
            "How the time lag is known; dim_enum explains the values.",
            is_nullable=False,
        ),
        Column("owner_member_id", Type.STRING, "Member that owned the partition; NULL: none, or not known."),
        Column("unknown_reason", Type.STRING, "Why lag_raw is NULL; NULL: lag_raw is known."),
        *EVIDENCE,
    ),
    JOB,
)

PERCENTS = (50, 95, 99)


def percentiles(column: str, comment: str) -> tuple[Column, ...]:
    """Of nearest rank: values that were seen, none between two."""
    return (
        *(
            number(f"{column}_p{percent}", f"{comment}: percentile {percent} of the known values; NULL: none is known.")
            for percent in PERCENTS
        ),
        number(f"{column}_max", f"{comment}: the largest known value; NULL: none is known."),
    )


DAY_TIME = Column("day_time", Type.TIMESTAMP, "The day of the snapshots, in UTC.", is_nullable=False)
LAG_PERCENTILES = percentiles("lag_floor", "Lag in messages")
TIME_LAG_PERCENTILES = percentiles("time_lag_ms", "Time lag")
LAG_DAYS = Table(
    "lag_days",
    "group, topic, day and offsets partition with records of the group",
    "Lag of each group on each topic by day, over all points (rows of lag_points) of the day. A group whose records "
    "are in several offsets partitions has a row for each of them.",
    ("cluster", "day_time", "group_id", "topic", "topic_id", "evidence_partition"),
    ("cluster", "day_time", "group_id", "topic", "topic_id"),
    (
        CLUSTER,
        DAY_TIME,
        GROUP_ID,
        Column(
            "group_type", Type.STRING, "classic, consumer, share or streams. If the type changed on that day: the one "
                   "of them that is last in this list.",
            is_nullable=False,
        ),
        TOPIC,
        TOPIC_ID_THEN,
        IS_OPEN,
        count("num_points", "Number of points: partitions times snapshots of the day, those with unknown lag "
              "included."),
        count("num_minutes", "Minutes of the day in which there is a snapshot."),
        count("num_minutes_unknown", "Of num_minutes, those in which lag_floor of one or more partitions is unknown."),
        count("num_minutes_known", "Of num_minutes, those in which the time lag of one or more partitions is known."),
        *LAG_PERCENTILES,
        *TIME_LAG_PERCENTILES,
        Column(
            "time_lag_method", Type.STRING, "How the time lags are known; NULL: in several ways, or none is known."
        ),
        *EVIDENCE,
    ),
    JOB,
)  # fmt: skip

LAG_MINUTES = Table(
    "lag_minutes",
    "group, topic, minute with a snapshot and offsets partition with records of the group",
    "Time lag of each group on each topic, over all its partitions, for each minute with a snapshot. v_freshness_slo "
    "compares it with the objective.",
    ("cluster", "minute_time", "group_id", "topic", "topic_id", "evidence_partition"),
    ("cluster", "group_id", "topic", "topic_id", "minute_time"),
    (
        CLUSTER,
        Column("minute_time", Type.TIMESTAMP, "Start of the minute.", is_nullable=False),
        DAY_TIME,
        *GROUP,
        TOPIC,
        TOPIC_ID_THEN,
        IS_OPEN,
        count("num_points", "Number of points: partitions times snapshots of the minute."),
        number("time_lag_ms_max", "The largest time lag of points that are final; NULL: none is known."),
        number(
            "open_time_lag_ms_min",
            "The smallest time lag of points that a later run may change. v_freshness_slo compares it with the "
            "objective. NULL: none is known.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

CONSUMPTION_RATES = Table(
    "consumption_rates",
    "group, topic and bucket",
    "How fast each group read and each topic grew, in buckets of 5 minutes and of 1 hour, and when the group catches "
    "up.",
    ("cluster", "group_id", "topic", "topic_id", "bucket_ms", "bucket_time"),
    ("cluster", "bucket_time", "group_id", "topic", "topic_id", "bucket_ms"),
    (
        CLUSTER,
        Column("bucket_time", Type.TIMESTAMP, "Start of the bucket.", is_nullable=False),
        Column("bucket_ms", Type.BIGINT, "Length of the bucket.", is_nullable=False),
        *GROUP,
        TOPIC,
        TOPIC_ID_THEN,
        IS_OPEN,
        Column(
            "num_partitions",
            Type.INT,
            "Partitions of the topic for which the group committed another offset in the bucket; 0: none, and messages "
            "waited at the end of the bucket.",
            is_nullable=False,
        ),
        number(
            "messages_consumed",
            "By how much the committed offsets rose. Not counted: moves to lower offsets, resets (offset_resets), and "
            "moves beyond the end of the log. NULL: unknown.",
        ),
        Column("messages_consumed_per_s", Type.DOUBLE, "messages_consumed per second."),
        Column(
            "messages_produced_per_s",
            Type.DOUBLE,
            "Messages written to these partitions, per second: growth of their end offsets. NULL: too few snapshots, "
            "or a log was cut or created again in the bucket.",
        ),
        number("lag_floor", "Lag at the end of the bucket; NULL: unknown."),
        number(
            "eta_low_ms",
            "Time until the lag is 0 if no more messages are written; NULL: nothing to read, the group is not reading, "
            "or no rate is known.",
        ),
        number(
            "eta_high_ms",
            "Time until the lag is 0 if messages are written at the present rate. It has a value only if the group "
            "reads and its lag shrinks; NULL: see eta_unknown_reason.",
        ),
        Column("eta_unknown_reason", Type.STRING, "Why eta_high_ms is NULL; NULL: eta_high_ms has a value."),
        *EVIDENCE,
    ),
    JOB,
)

GROUP_VERDICTS = Table(
    "group_verdicts",
    "group, topic partition and as-of time; and one per group and as-of time",
    "The lag verdict on each partition of each group at one time, by Burrow's rules and by Groupscope's own, with the "
    "rule that decided.",
    ("cluster", "as_of_time", "group_id", "topic", "topic_id", "partition"),
    ("cluster", "as_of_time", "group_id", "topic", "topic_id", "partition"),
    (
        CLUSTER,
        AS_OF_TIME,
        *GROUP,
        TOPIC,
        TOPIC_ID,
        Column("partition", Type.INT, "The partition; NULL: the group as a whole."),
        Column(
            "burrow_verdict",
            Type.STRING,
            "Lag verdict by Burrow's rules, from all commits in offset_commits.",
            is_nullable=False,
        ),
        Column("burrow_rule", Type.STRING, "The rule that decided; dim_enum explains the values.", is_nullable=False),
        Column(
            "own_verdict",
            Type.STRING,
            "Lag verdict by Groupscope's rules, from offset_history. DOWN: of a group as a whole.",
            is_nullable=False,
        ),
        Column("rule", Type.STRING, "The rule that decided; dim_enum explains the values.", is_nullable=False),
        Column("reason", Type.STRING, "Why own_verdict has this value, in words with numbers.", is_nullable=False),
        Column("last_commit_time", Type.TIMESTAMP, "When the offset in effect was last committed; NULL: none."),
        Column(
            "since_time",
            Type.TIMESTAMP,
            "Since when the committed offset does not advance, the lag grows, or the group has no members; NULL: none "
            "of these is true.",
        ),
        number("lag_floor", "Lag at that time; in the row of a group: the sum of its partitions. NULL: unknown."),
        number(
            "time_lag_ms", "Time lag at that time; in the row of a group: the largest of its partitions. NULL: unknown."
        ),
        number(
            "freshness_objective_ms",
            "Time lag that the group must not exceed: freshness_objective_s in [[groups]] of the settings. NULL: no "
            "objective.",
        ),
        number(
            "burrow_lag", "Lag as Burrow shows it; in the row of a group: the sum of its partitions. NULL: unknown."
        ),
        Column(
            "burrow_complete",
            Type.DOUBLE,
            "Number of commits in Burrow's window divided by the size of the window (intervals in [burrow] of the "
            "settings). In the row of a group: the share of its partitions with a full window. NULL: the group has no "
            "commits in a window.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

TABLES: tuple[Table, ...] = (LAG_POINTS, LAG_DAYS, LAG_MINUTES, CONSUMPTION_RATES, GROUP_VERDICTS)
