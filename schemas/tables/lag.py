"""Lag of every group at every snapshot, rates and verdicts: written by `lag`."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.history_columns import EVIDENCE, GROUP, IS_OPEN, TOPIC, TOPIC_ID, TOPIC_PARTITION
from schemas.tables.record_columns import CLUSTER, GROUP_ID

JOB = "lag"
AS_OF_TIME = Column("as_of_time", Type.TIMESTAMP, "The time that the row is about.", is_nullable=False)


def number(name: str, comment: str) -> Column:
    return Column(name, Type.BIGINT, comment)


def count(name: str, comment: str) -> Column:
    return Column(name, Type.BIGINT, comment, is_nullable=False)


def flag(name: str, comment: str) -> Column:
    return Column(name, Type.BOOLEAN, comment, is_nullable=False)


LAG_POINTS = Table(
    "lag_points",
    "group by topic partition by snapshot",
    "Lag of each group at each snapshot, by every convention, of partitions with a live commit, of owned "
    "ones and of those of subscribed topics.",
    ("cluster", "snapshot_time", "group_id", "topic", "topic_id", "partition"),
    # Neighbours are alike: that is quick to make and to write. A run adds later snapshots in files of their own.
    ("cluster", "group_id", "topic", "partition", "snapshot_time"),
    (
        CLUSTER,
        Column("snapshot_time", Type.TIMESTAMP, "The snapshot.", is_nullable=False),
        *GROUP,
        *TOPIC_PARTITION,
        IS_OPEN,
        number("committed_offset", "The offset that held then; NULL: none, or not known."),
        number("log_start_offset", "First offset that could be read; NULL: not captured."),
        number("log_end_offset", "End of the log; NULL: no snapshot so far has it."),
        number("lag_raw", "End less committed offset, with its sign; NULL: unknown."),
        number("lag_floor", "The same, at least 0."),
        number("lag_available", "Messages that can still be read: end less the larger of committed offset and start."),
        number("lost_messages", "Start less committed offset, at least 0: deleted before the group read them."),
        flag("no_commit", "TRUE: nothing is committed for the partition."),
        flag("committed_beyond_end", "TRUE: the committed offset lies above the end of the log."),
        number("lag_data", "lag_available less control records and compacted holes; NULL: needs the topic's segments."),
        flag("committed_negative", "TRUE: the committed offset is negative."),
        number("snapshot_age_ms", "How much older than the snapshot its end offset is, of one that left it out."),
        Column("leader_epoch", Type.INT, "Leader epoch of the commit; NULL: none, or no commit."),
        number("time_lag_ms", "How long ago the message at the committed offset was written; NULL: unknown."),
        number("time_lag_low_ms", "At least; NULL: unknown."),
        number("time_lag_high_ms", "At most; NULL: unknown."),
        Column("time_lag_method", Type.STRING, "How that is known.", is_nullable=False),
        Column("owner_member_id", Type.STRING, "Who owned the partition; NULL: nobody, or not known."),
        Column("unknown_reason", Type.STRING, "Why lag_raw is NULL; NULL: it is not."),
        *EVIDENCE,
    ),
    JOB,
)

PERCENTS = (50, 95, 99)


def percentiles(column: str, comment: str) -> tuple[Column, ...]:
    """Of nearest rank: values that were seen, none between two. The first of them says what they are about."""
    first, *others = (f"{column}_p{percent}" for percent in PERCENTS)
    return (
        number(first, f"{comment}: half of the known values are not above; NULL: none is known."),
        *(number(name, f"The same of {name[-2:]} in 100.") for name in others),
        number(f"{column}_max", "The largest."),
    )


DAY_TIME = Column("day_time", Type.TIMESTAMP, "The day of the snapshots, in UTC.", is_nullable=False)
LAG_PERCENTILES = percentiles("lag_floor", "Lag in messages")
TIME_LAG_PERCENTILES = percentiles("time_lag_ms", "Time lag")
LAG_DAYS = Table(
    "lag_days",
    "group by topic by day",
    "Lag of each group on each topic by day, over all points of that day. A group whose records "
    "are in several offsets partitions has a row for each of these.",
    ("cluster", "day_time", "group_id", "topic", "topic_id", "evidence_partition"),
    ("cluster", "day_time", "group_id", "topic", "topic_id"),
    (
        CLUSTER,
        DAY_TIME,
        GROUP_ID,
        Column(
            "group_type", Type.STRING, "classic, consumer, share or streams; the last of these that it was that day.",
            is_nullable=False,
        ),
        TOPIC,
        TOPIC_ID,
        IS_OPEN,
        count("num_points", "Partitions at snapshots of the day, those with lag unknown too."),
        count("num_minutes", "Minutes of the day with a snapshot."),
        count("num_minutes_unknown", "Of these, minutes in which lag_floor of a partition is unknown."),
        count("num_minutes_known", "Of these, minutes in which the time lag of a partition is known."),
        *LAG_PERCENTILES,
        *TIME_LAG_PERCENTILES,
        Column(
            "time_lag_method", Type.STRING, "How the known values are known; NULL: in several ways, or none is known."
        ),
        *EVIDENCE,
    ),
    JOB,
)  # fmt: skip

LAG_MINUTES = Table(
    "lag_minutes",
    "group by topic by minute with a snapshot",
    "How late each group was on each topic at each minute with a snapshot, over all of its partitions: v_freshness_slo "
    "holds it against any objective.",
    ("cluster", "minute_time", "group_id", "topic", "topic_id", "evidence_partition"),
    ("cluster", "group_id", "topic", "topic_id", "minute_time"),
    (
        CLUSTER,
        Column("minute_time", Type.TIMESTAMP, "Where the minute begins.", is_nullable=False),
        DAY_TIME,
        *GROUP,
        TOPIC,
        TOPIC_ID,
        IS_OPEN,
        count("num_points", "Partitions at snapshots of the minute."),
        number("time_lag_ms_max", "The largest time lag of points that do not change any more; NULL: none is known."),
        number("open_time_lag_ms_min", "The smallest time lag of points that may still change; NULL: none is known."),
        *EVIDENCE,
    ),
    JOB,
)

CONSUMPTION_RATES = Table(
    "consumption_rates",
    "group by topic by bucket",
    "How fast each group read and each topic grew, in buckets of 5 minutes and of 1 hour, and when it catches up.",
    ("cluster", "group_id", "topic", "topic_id", "bucket_ms", "bucket_time"),
    ("cluster", "bucket_time", "group_id", "topic", "topic_id", "bucket_ms"),
    (
        CLUSTER,
        Column("bucket_time", Type.TIMESTAMP, "Where the bucket begins.", is_nullable=False),
        Column("bucket_ms", Type.BIGINT, "How long it is.", is_nullable=False),
        *GROUP,
        TOPIC,
        TOPIC_ID,
        IS_OPEN,
        Column("num_partitions", Type.INT, "Partitions of the topic with a commit of the group.", is_nullable=False),
        number("messages_consumed", "By how much the committed offsets rose; steps back do not count."),
        Column("messages_consumed_per_s", Type.DOUBLE, "The same by second."),
        Column("messages_produced_per_s", Type.DOUBLE, "Growth of these partitions' ends; NULL: too few snapshots."),
        number("lag_floor", "Lag at the end of the bucket; NULL: unknown."),
        number("eta_low_ms", "Time to catch up with what is there, if nothing more comes; NULL: see the reason."),
        number("eta_high_ms", "The same while messages keep coming; NULL: see the reason."),
        Column("eta_unknown_reason", Type.STRING, "Why eta_high_ms is NULL; NULL: it is not."),
        *EVIDENCE,
    ),
    JOB,
)

GROUP_VERDICTS = Table(
    "group_verdicts",
    "group by topic partition by as-of, and one by group",
    "The verdict on each partition of each group at a time, by Burrow's rules and by ours, with the rule that decided.",
    ("cluster", "as_of_time", "group_id", "topic", "topic_id", "partition"),
    ("cluster", "as_of_time", "group_id", "topic", "topic_id", "partition"),
    (
        CLUSTER,
        AS_OF_TIME,
        *GROUP,
        TOPIC,
        TOPIC_ID,
        Column("partition", Type.INT, "The partition; NULL: the group as a whole."),
        Column("burrow_verdict", Type.STRING, "By Burrow's rules, from raw commits.", is_nullable=False),
        Column("burrow_rule", Type.STRING, "Which of them decided.", is_nullable=False),
        Column("own_verdict", Type.STRING, "By our rules, from offset_history.", is_nullable=False),
        Column("rule", Type.STRING, "Which of them decided.", is_nullable=False),
        Column("reason", Type.STRING, "What it rests on, in words with numbers.", is_nullable=False),
        Column("last_commit_time", Type.TIMESTAMP, "Newest commit that holds; NULL: none."),
        Column("since_time", Type.TIMESTAMP, "Since when it does not advance or its lag grows; NULL: neither."),
        number("lag_floor", "Lag then, of a group the sum; NULL: unknown."),
        number("time_lag_ms", "Time lag then, of a group the largest; NULL: unknown."),
        number(
            "freshness_objective_ms",
            "Time lag that the group must not exceed, by [[groups]] of the settings; NULL: no objective is set.",
        ),
        number("burrow_lag", "Lag as Burrow gives it, of a group the sum; NULL: unknown."),
        Column("burrow_complete", Type.DOUBLE, "Share of the window, or of a group's windows, that is full."),
        *EVIDENCE,
    ),
    JOB,
)

TABLES: tuple[Table, ...] = (LAG_POINTS, LAG_DAYS, LAG_MINUTES, CONSUMPTION_RATES, GROUP_VERDICTS)
