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
    "group by topic by operation",
    "Offsets that were moved or removed otherwise than by reading on, and who is likely to have done it.",
    ("cluster", "group_id", "topic", "topic_id", "evidence_first_offset", "kind"),
    ("cluster", "group_id", "topic", "topic_id", "evidence_first_offset", "kind"),
    (
        CLUSTER,
        Column("at_time", Type.TIMESTAMP, "When; NULL: the records have no time."),
        *ANY_GROUP,
        TOPIC,
        TOPIC_ID,
        IS_OPEN,
        Column("kind", Type.STRING, "To where.", is_nullable=False),
        Column("actor", Type.STRING, "Who is likely to have done it: the log does not name anybody.",
               is_nullable=False),
        Column("num_partitions", Type.INT, "Partitions of the topic that it moved.", is_nullable=False),
        Column("messages_reread", Type.BIGINT, "By how many messages offsets moved back; NULL: unknown."),
        Column("messages_skipped", Type.BIGINT, "By how many they moved forward without being read; NULL: unknown, "
               "or removed."),
        Column("signature_score", Type.INT, "Of five signs of an admin tool, how many are there; NULL: not of a kind "
               "that has them."),
        Column("num_members", Type.INT, "Members of the group then; NULL: unknown."),
        *EVIDENCE,
        Column("partitions", ListOf(Type.INT), "These, ascending.", is_nullable=False),
        Column("from_offsets", ListOf(Type.BIGINT), "What was committed before, in the same order; an entry is empty "
               "where nothing was.", is_nullable=False),
        Column("to_offsets", ListOf(Type.BIGINT), "What is committed after; empty: removed.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

COMMIT_FINDINGS = Table(
    "commit_findings",
    "group by topic partition by kind by day",
    "Commits by or for what should not commit. The log does not name the committer: at most likely.",
    ("cluster", "group_id", "topic", "topic_id", "partition", "kind", "day_time"),
    ("cluster", "day_time", "group_id", "topic", "topic_id", "partition", "kind"),
    (
        CLUSTER,
        Column("day_time", Type.TIMESTAMP, "The day, in UTC.", is_nullable=False),
        *ANY_GROUP,
        *TOPIC_PARTITION,
        IS_OPEN,
        Column("kind", Type.STRING, "What is wrong with them.", is_nullable=False),
        Column("num_commits", Type.BIGINT, "How many.", is_nullable=False),
        Column("first_time", Type.TIMESTAMP, "The first of the day."),
        Column("last_time", Type.TIMESTAMP, "The last of the day."),
        Column("num_messages", Type.BIGINT, "Messages that are read again, skipped or out of reach; NULL: unknown."),
        Column("last_committed_offset", Type.BIGINT, "What the last of them commits.", is_nullable=False),
        Column("detail", Type.STRING, "What it was compared with, in words with numbers.", is_nullable=False),
        *EVIDENCE,
    ),
    JOB,
)

EXPIRY_FORECAST = Table(
    "expiry_forecast",
    "group by topic partition",
    "When each committed offset expires if the group stays as it is, by the coordinator's own rules.",
    ("cluster", "group_id", "topic", "topic_id", "partition"),
    ("cluster", "group_id", "topic", "topic_id", "partition"),
    (
        CLUSTER,
        GROUP_ID,
        Column("group_type", Type.STRING, "classic, consumer, share or streams; NULL: its records are missing."),
        *TOPIC_PARTITION,
        AS_OF_TIME,
        Column("rule", Type.STRING, "The rule that holds.", is_nullable=False),
        Column("base_time", Type.TIMESTAMP, "From when it counts; NULL: never, or unknown."),
        Column("expires_time", Type.TIMESTAMP, "From then on the next sweep deletes it; NULL: never, or unknown."),
        Column("settings_source", Type.STRING, "Where the retention comes from; NULL: it does not count."),
        Column("committed_offset", Type.BIGINT, "The offset that would go.", is_nullable=False),
        Column("messages_at_risk", Type.BIGINT, "What a reader that finds no offset reads again or skips, the larger "
               "of the two; NULL: unknown."),
        Column("blocked_by_transaction", Type.BOOLEAN, "TRUE: an open transaction keeps it from expiring.",
               is_nullable=False),
        *EVIDENCE,
    ),
    JOB,
)  # fmt: skip

COMMIT_VOLUME = Table(
    "commit_volume",
    "offsets partition by group by hour",
    "How much of the offsets topic each group's commits fill.",
    ("cluster", "offsets_partition", "group_id", "hour_time"),
    ("cluster", "hour_time", "offsets_partition", "group_id"),
    (
        CLUSTER,
        Column("hour_time", Type.TIMESTAMP, "The hour.", is_nullable=False),
        OFFSETS_PARTITION,
        GROUP_ID,
        IS_OPEN,
        Column("num_commits", Type.BIGINT, "Offset commits, one for each partition, tombstones not.",
               is_nullable=False),
        Column("num_bytes", Type.BIGINT, "Bytes of their keys and values, uncompressed.", is_nullable=False),
        Column("num_unchanged", Type.BIGINT, "Commits of the offset that the one before had.", is_nullable=False),
        Column("share_unchanged", Type.DOUBLE, "The share of these.", is_nullable=False),
        Column("peak_per_minute", Type.BIGINT, "Commits in the busiest minute.", is_nullable=False),
        Column("num_at_5_s", Type.BIGINT, "Commits there would be at one each 5 s for each partition.",
               is_nullable=False),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (OFFSET_RESETS, COMMIT_FINDINGS, EXPIRY_FORECAST, COMMIT_VOLUME)
