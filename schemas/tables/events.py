"""What happened to committed offsets beside reading, what is about to, and what commits cost: written by `lag`."""

from schemas.declarations.columns import Column, ListOf, Table, Type
from schemas.tables.history_columns import EVIDENCE, IS_OPEN, TOPIC, TOPIC_ID, TOPIC_PARTITION
from schemas.tables.lag import AS_OF_TIME, JOB
from schemas.tables.record_columns import CLUSTER, GROUP_ID, OFFSETS_PARTITION

# Unlike elsewhere what happened to a group's offsets counts when its type is not known.
ANY_GROUP = (
    GROUP_ID,
    Column("group_type", Type.STRING, "classic, consumer, share or streams; NULL: records of the group are missing."),
)

OFFSET_RESETS = Table(
    "offset_resets",
    "group, topic and reset",
    "Resets: committed offsets that were moved or removed in another way than by reading messages, and who is likely "
    "to have done it.",
    ("cluster", "group_id", "topic", "topic_id", "evidence_first_offset", "kind"),
    ("cluster", "group_id", "topic", "topic_id", "evidence_first_offset", "kind"),
    (
        CLUSTER,
        Column("at_time", Type.TIMESTAMP, "When the offsets were reset: the begin of the operation, which all rows of "
               "its topics have. NULL: the records have no time."),
        *ANY_GROUP,
        TOPIC,
        TOPIC_ID,
        IS_OPEN,
        Column("kind", Type.STRING, "How the offsets were reset, such as to_earliest, shift, expired or deleted; "
               "dim_enum explains the values.", is_nullable=False),
        Column("actor", Type.STRING, "Who or what has likely reset the offsets, by signs in the records: the log does "
               "not name users.",
               is_nullable=False),
        Column("actor_reason", Type.STRING, "Of deleted offsets: what the actor was read from, or which causes the "
               "records leave open, in words. NULL: the kind says it."),
        Column("num_partitions", Type.INT, "How many partitions of the topic were reset.", is_nullable=False),
        Column("messages_reread", Type.BIGINT, "Messages that are read again, because offsets moved back over them. "
               "Those beyond the end of the log, or deleted before, do not count where snapshots show it. NULL: "
               "unknown, or the log was truncated or the topic recreated."),
        Column("messages_skipped", Type.BIGINT, "Messages that are not read, because offsets moved forward past them. "
               "Those beyond the end of the log do not count where snapshots show it. NULL: unknown, the offsets were "
               "removed, the log was truncated, or the topic recreated."),
        Column("signature_score", Type.INT, "How many of five signs of an admin tool the commits have: no members in "
               "the group, no leader epoch, no metadata, several partitions at once, and all "
               "offsets moved to the start of their logs, to the end, or by the same number. "
               "NULL: kinds expired, deleted and truncation."),
        Column("num_members", Type.INT, "Members of the group at that time; NULL: unknown."),
        *EVIDENCE,
        Column("partitions", ListOf(Type.INT), "The partitions that were reset, ascending.", is_nullable=False),
        Column("from_offsets", ListOf(Type.BIGINT), "The committed offsets before the reset, in the order of the "
               "column partitions; an entry is NULL where there was none.", is_nullable=False),
        Column("to_offsets", ListOf(Type.BIGINT), "The committed offsets after the reset, in the order of the column "
               "partitions; an empty list: the offsets were removed.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

COMMIT_FINDINGS = Table(
    "commit_findings",
    "group, topic partition, kind and day",
    "Odd commits, such as commits of an offset outside of the log, of a lower offset than before, while the group had "
    "no members, or for a partition that no member owned. The log does not name who committed, so confidence is never "
    "certain. It is possible where the snapshot that shows the log's end or start lacks that of the offsets partition, "
    "which would confirm its time.",
    ("cluster", "group_id", "topic", "topic_id", "partition", "kind", "day_time"),
    ("cluster", "day_time", "group_id", "topic", "topic_id", "partition", "kind"),
    (
        CLUSTER,
        Column("day_time", Type.TIMESTAMP, "The day, in UTC.", is_nullable=False),
        *ANY_GROUP,
        *TOPIC_PARTITION,
        IS_OPEN,
        Column("kind", Type.STRING, "What is wrong with the commits; dim_enum explains the values.", is_nullable=False),
        Column("num_commits", Type.BIGINT, "Number of these commits on the day.", is_nullable=False),
        Column("first_time", Type.TIMESTAMP, "Time of the first of these commits."),
        Column("last_time", Type.TIMESTAMP, "Time of the last of these commits."),
        Column(
            "num_messages",
            Type.BIGINT,
            "Messages that are read again, are skipped or cannot be read, because of the commits; NULL: unknown.",
        ),
        Column("last_committed_offset", Type.BIGINT, "The offset in the last of these commits.", is_nullable=False),
        Column("detail", Type.STRING, "What the commits were compared with, in words with numbers.", is_nullable=False),
        *EVIDENCE,
    ),
    JOB,
)

EXPIRY_FORECAST = Table(
    "expiry_forecast",
    "group and topic partition",
    "When each committed offset expires, by the coordinator's rules, if the group neither commits nor changes.",
    ("cluster", "group_id", "topic", "topic_id", "partition"),
    ("cluster", "group_id", "topic", "topic_id", "partition"),
    (
        CLUSTER,
        GROUP_ID,
        Column("group_type", Type.STRING, "classic, consumer, share or streams; NULL: records of the group are "
               "missing."),
        *TOPIC_PARTITION,
        AS_OF_TIME,
        Column("rule", Type.STRING, "The rule of the coordinator that applies; dim_enum explains the values.",
               is_nullable=False),
        Column("base_time", Type.TIMESTAMP, "When the retention time began; NULL: the offset never expires, or "
               "unknown."),
        Column("expires_time", Type.TIMESTAMP, "When the offset expires: the coordinator's next check for expired "
               "offsets after this time deletes it. The end of the year 9999: then or later. NULL: never, or "
               "unknown."),
        Column("settings_source", Type.STRING, "Source of the retention time; dim_enum explains the values. NULL: the "
               "rule does not use a retention time."),
        Column("committed_offset", Type.BIGINT, "The offset that would be deleted.", is_nullable=False),
        Column("messages_at_risk", Type.BIGINT, "Messages that the group reads again (with "
               "auto.offset.reset=earliest) or skips (with latest) after the offset is "
               "deleted: the larger of these two numbers. NULL: unknown."),
        Column("blocked_by_transaction", Type.BOOLEAN, "TRUE: an open transaction prevents the expiry of the offset.",
               is_nullable=False),
        *EVIDENCE,
    ),
    JOB,
)  # fmt: skip

COMMIT_VOLUME = Table(
    "commit_volume",
    "offsets partition, group and hour",
    "How many records and bytes of __consumer_offsets the commits of each group take.",
    ("cluster", "offsets_partition", "group_id", "hour_time"),
    ("cluster", "hour_time", "offsets_partition", "group_id"),
    (
        CLUSTER,
        Column("hour_time", Type.TIMESTAMP, "Start of the hour.", is_nullable=False),
        OFFSETS_PARTITION,
        GROUP_ID,
        IS_OPEN,
        Column("num_commits", Type.BIGINT, "Offset commits, one for each partition of a request, without tombstones.",
               is_nullable=False),
        Column("num_bytes", Type.BIGINT, "Bytes of the keys and values of these commits, uncompressed.",
               is_nullable=False),
        Column("num_unchanged", Type.BIGINT, "Commits that repeat the previous offset.", is_nullable=False),
        Column("share_unchanged", Type.DOUBLE, "num_unchanged / num_commits.", is_nullable=False),
        Column("peak_per_minute", Type.BIGINT, "Commits in the busiest minute.", is_nullable=False),
        Column("num_at_5_s", Type.BIGINT, "How many commits there would be if each partition were committed every 5 s.",
               is_nullable=False),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (OFFSET_RESETS, COMMIT_FINDINGS, EXPIRY_FORECAST, COMMIT_VOLUME)
