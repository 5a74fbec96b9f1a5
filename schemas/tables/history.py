"""History tables of groups: states, members, ownership, rebalances."""

from schemas.declarations.columns import Column, ListOf, Table, Type
from schemas.tables.history_columns import (
    ASSIGNMENT_OFFSET,
    CLIENT,
    EVIDENCE,
    GROUP,
    GROUP_INSTANCE_ID,
    INTERVAL,
    IS_OPEN,
    MEMBER_ID,
    PARTITION_LISTS,
    TOPIC_PARTITION,
    history,
)
from schemas.tables.record_columns import GROUP_ID

GENERATION_OR_EPOCH = Column(
    "generation_or_epoch", Type.INT, "Classic: the generation; else the group epoch; NULL: a group with only offsets."
)
UNSEEN = "NULL: records of the group may be in a part of the log that was not read."

GROUP_STATE_INTERVALS = history(
    "group_state_intervals",
    "group and period in one state",
    "What state each group was in, and since when. A deleted group has no row.",
    ("group_id", "from_offset", "state"),
    (
        GROUP_ID,
        Column("group_type", Type.STRING, f"classic, consumer, share or streams; {UNSEEN}"),
        *INTERVAL,
        Column("state", Type.STRING, f"As Kafka names it, such as Stable or Empty; {UNSEEN}"),
        GENERATION_OR_EPOCH,
        Column("protocol_type", Type.STRING, "Classic: consumer, connect, …; NULL: other types, only offsets."),
        Column("assignor", Type.STRING, "The assignor in force, as far as records show; NULL: none, or not known."),
        Column("num_members", Type.INT, f"Members at its end; {UNSEEN}"),
        *EVIDENCE,
    ),
)

MEMBERSHIP_INTERVALS = history(
    "membership_intervals",
    "group by stay of a member id",
    "Who was a member of which group, from when to when, and how it left.",
    ("group_id", "member_id", "from_offset"),
    (
        *GROUP,
        MEMBER_ID,
        *INTERVAL,
        GROUP_INSTANCE_ID,
        *CLIENT,
        Column("rack_id", Type.STRING, "The member's rack; NULL: none."),
        Column("joined_generation", Type.INT, "Generation or group epoch at its first record."),
        Column("left_generation", Type.INT, "Generation or group epoch of the record without it; NULL: still there."),
        Column("away_since_time", Type.TIMESTAMP, "Since when a static member has been away (epoch -2); NULL: is not."),
        Column("leave_kind", Type.STRING, "How it left; NULL: still a member."),
        *EVIDENCE,
    ),
)

OWNERSHIP_INTERVALS = history(
    "ownership_intervals",
    "group by topic partition by stay with an owner",
    "Which member owned which partition, from when to when.",
    ("group_id", "topic", "topic_id", "partition", "role", "member_id", "phase", "from_offset"),
    (
        *GROUP,
        *TOPIC_PARTITION,
        *INTERVAL,
        MEMBER_ID,
        GROUP_INSTANCE_ID,
        *CLIENT,
        Column("generation_or_epoch", Type.INT, "Generation or member epoch at its beginning."),
        Column("phase", Type.STRING, "assigned, revoking or held.", is_nullable=False),
        Column("role", Type.STRING, "Streams: active, standby or warmup; else NULL."),
        Column("subtopology_id", Type.STRING, "Streams: the subtopology of the task; else NULL."),
        Column("start_offset", Type.BIGINT, "Committed when it began; NULL: nothing, the reset policy applied."),
        Column("end_offset", Type.BIGINT, "Committed when it ended; NULL: nothing, or still there."),
        *EVIDENCE,
    ),
    ("group_id", "topic", "partition", "from_offset", "member_id"),
)

REBALANCES = history(
    "rebalances",
    "completed generation, or target epoch",
    "Every rebalance that left a record: its trigger, who joined and left, what moved, what it cost.",
    ("group_id", "assignment_offset"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column("from_generation", Type.INT, "Generation or target epoch before; NULL: none."),
        Column("to_generation", Type.INT, "Generation or target epoch of this one.", is_nullable=False),
        Column("start_time", Type.TIMESTAMP, "First record time that proves it; the join phase leaves no record."),
        Column("is_start_exact", Type.BOOLEAN, "TRUE: the rebalance began then.", is_nullable=False),
        Column("end_time", Type.TIMESTAMP, "When the assignment was handed out, or all had reached it; NULL: open."),
        IS_OPEN,
        Column("duration_ms", Type.BIGINT, "From start to end: a lower bound for classic groups; NULL: open."),
        Column("outcome", Type.STRING, "completed, superseded, emptied or open.", is_nullable=False),
        Column("trigger", Type.STRING, "What set it off.", is_nullable=False),
        Column("mode", Type.STRING, "eager, cooperative or incremental; NULL: no assignment shows it."),
        Column("members_joined", ListOf(Type.STRING), "Member ids that came.", is_nullable=False),
        Column(
            "members_departed",
            ListOf(Type.STRING),
            "Member ids that left, timed out or were removed.",
            is_nullable=False,
        ),
        Column("num_members_before", Type.INT, "Members before.", is_nullable=False),
        Column("num_members_after", Type.INT, "Members after.", is_nullable=False),
        Column("leader_before", Type.STRING, "Classic: the leader before; else NULL."),
        Column("leader_after", Type.STRING, "Classic: the leader after; else NULL."),
        Column("num_partitions", Type.INT, "Partitions assigned; NULL: assignments that cannot be read."),
        Column("num_moved", Type.INT, "Moved from one member to another."),
        Column("num_returned", Type.INT, "Revoked and reassigned to the same member."),
        Column("num_withheld", Type.INT, "Claimed and given to nobody this round; NULL: not classic."),
        Column("num_maybe_revoking", Type.INT, "Claimed and given, or withheld (KIP-429); NULL: not classic."),
        Column("num_ready_to_migrate", Type.INT, "Given and claimed by nobody (KIP-429); NULL: not classic."),
        Column("num_unknown_owned", Type.INT, "Claimed, but gone from the topics known; NULL: not classic."),
        Column("num_unowned", Type.INT, "Owned before and by nobody after."),
        Column("is_follow_up", Type.BOOLEAN, "TRUE: hands out what the round before withheld.", is_nullable=False),
        Column("unpersisted_rounds", Type.INT, "Earlier rebalances that did not complete; NULL: not known."),
        Column("sync_ms", Type.BIGINT, "Classic: from the end of the join phase to the assignment; NULL: not known."),
        Column("stopped_partition_ms", Type.BIGINT, "Sum of idle_ms over the partitions that stopped."),
        Column("assignor_before", Type.STRING, "The assignor of the assignment before; NULL: none, or not recorded."),
        Column("assignor_after", Type.STRING, "The assignor of this assignment; NULL: not recorded."),
        Column("trigger_detail", Type.STRING, "What exactly changed, in words with names; NULL: not known."),
        Column(
            "unread_partition_low_ms", Type.BIGINT, "Sum of unread_low_ms over its partitions; NULL: nothing stopped."
        ),
        Column(
            "unread_partition_high_ms", Type.BIGINT, "Sum of unread_high_ms over its partitions; NULL: nothing stopped."
        ),
        Column("longest_unread_high_ms", Type.BIGINT, "The largest unread_high_ms of a partition; NULL: none stopped."),
        *EVIDENCE,
    ),
)

GENERATION_MEMBERS = history(
    "generation_members",
    "assignment by member",
    "The members of each assignment: what each had, claimed and got: the sets of KIP-429.",
    ("group_id", "assignment_offset", "member_id"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        MEMBER_ID,
        Column("generation_or_epoch", Type.INT, "Classic: the generation; else the target epoch.", is_nullable=False),
        IS_OPEN,
        GROUP_INSTANCE_ID,
        Column("change", Type.STRING, "joined, kept, left or restarted.", is_nullable=False),
        Column("is_leader", Type.BOOLEAN, "Classic: TRUE for the leader; else NULL."),
        Column("subscribed_topics", ListOf(Type.STRING), "Topics subscribed; NULL: cannot be read, or left."),
        Column("previous_assigned", PARTITION_LISTS, "Assigned to it at the assignment before."),
        Column(
            "claimed_owned",
            PARTITION_LISTS,
            "Classic: what it said it owned as it joined, NULL: it cannot say; else what its records gave it then.",
        ),
        Column("assigned", PARTITION_LISTS, "What it got; NULL: cannot be read."),
        Column("added", PARTITION_LISTS, "assigned without claimed_owned."),
        Column("revoked", PARTITION_LISTS, "claimed_owned without assigned."),
        Column("kept", PARTITION_LISTS, "Both claimed and assigned."),
        Column("lost", PARTITION_LISTS, "Assigned before, and lost when it came back reset."),
        Column("dropped_before_join", PARTITION_LISTS, "Assigned before and not claimed in the generation after."),
        *EVIDENCE,
    ),
)

PARTITION_MOVES = history(
    "partition_moves",
    "assignment by topic partition that changed",
    "Which partitions changed hands or stopped at each assignment, and for how long.",
    ("group_id", "assignment_offset", "topic", "topic_id", "partition", "role", "kind", "from_member_id",
     "to_member_id"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        *TOPIC_PARTITION,
        IS_OPEN,
        Column("kind", Type.STRING, "moved, assigned, revoked, returned, lost, withheld, ….", is_nullable=False),
        Column("from_member_id", Type.STRING, "The owner before; NULL: none."),
        Column("to_member_id", Type.STRING, "The owner after; NULL: none."),
        Column("move_offset", Type.BIGINT, "The record at which it changed hands.", is_nullable=False),
        Column("move_time", Type.TIMESTAMP, "When it changed hands."),
        Column("role", Type.STRING, "Streams: active, standby or warmup; else NULL."),
        Column("idle_ms", Type.BIGINT, "How long it was unowned before; NULL: not known, or still unowned."),
        Column("commit_gap_ms", Type.BIGINT, "From the last commit before to the first after; NULL: one is missing."),
        Column("unread_low_ms", Type.BIGINT, "How long nobody read it around the move, at least; NULL: not known."),
        Column("unread_high_ms", Type.BIGINT, "How long nobody read it around the move, at most; NULL: not known."),
        Column("unread_basis", Type.STRING, "The timeout that bounds it and what was assumed; NULL: no timeout does."),
        *EVIDENCE,
    ),
    ("group_id", "assignment_offset", "topic", "partition"),
)  # fmt: skip

REPLAY_ANOMALIES = history(
    "replay_anomalies",
    "finding",
    "What records say that cannot be, or that a replay had to pass over; the rest was replayed.",
    ("group_id", "kind", "record_offset", "evidence_partition", "message"),
    (
        Column("group_id", Type.STRING, "The group; NULL: a matter of the offsets partition."),
        Column("kind", Type.STRING, "What was found, such as two_owners.", is_nullable=False),
        Column("severity", Type.STRING, "critical, warning or info.", is_nullable=False),
        Column("record_offset", Type.BIGINT, "The record at which it shows.", is_nullable=False),
        Column("record_time", Type.TIMESTAMP, "Its time."),
        Column("message", Type.STRING, "What was found and what was expected.", is_nullable=False),
        *EVIDENCE,
    ),
    ("evidence_partition", "record_offset", "group_id", "kind", "message"),
)

TABLES: tuple[Table, ...] = (
    GROUP_STATE_INTERVALS,
    MEMBERSHIP_INTERVALS,
    OWNERSHIP_INTERVALS,
    REBALANCES,
    GENERATION_MEMBERS,
    PARTITION_MOVES,
    REPLAY_ANOMALIES,
)
