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
    "generation_or_epoch",
    Type.INT,
    "Classic: the generation; other types: the group epoch. NULL: the group has only offsets.",
)
UNSEEN = "NULL: unknown, because some of the group's records may not have been read."

GROUP_STATE_INTERVALS = history(
    "group_state_intervals",
    "group and period in one state",
    "The states of each group, from when to when. No row says Dead: after a deletion the group has no state.",
    ("group_id", "from_offset", "state"),
    (
        GROUP_ID,
        Column("group_type", Type.STRING, f"classic, consumer, share or streams; {UNSEEN}"),
        *INTERVAL,
        Column("state", Type.STRING, f"State of the group, by Kafka's name, such as Stable or Empty; {UNSEEN}"),
        GENERATION_OR_EPOCH,
        Column(
            "protocol_type",
            Type.STRING,
            "Classic: consumer, connect, …; NULL: another group type, or a group with only offsets.",
        ),
        Column("assignor", Type.STRING, "The assignor of the group, as far as records show; NULL: none, or not known."),
        Column("num_members", Type.INT, f"Number of members at the end of the interval; {UNSEEN}"),
        *EVIDENCE,
    ),
)

MEMBERSHIP_INTERVALS = history(
    "membership_intervals",
    "group, member id and period of membership",
    "Which members each group had, from when to when, and how they left.",
    ("group_id", "member_id", "from_offset"),
    (
        *GROUP,
        MEMBER_ID,
        *INTERVAL,
        GROUP_INSTANCE_ID,
        *CLIENT,
        Column("rack_id", Type.STRING, "The member's rack; NULL: none."),
        Column(
            "client_library",
            Type.STRING,
            "The client library that the member probably uses, such as java or librdkafka, by how it wrote its "
            "subscriptions and, as the leader, assignments. NULL: nothing shows it, or several fit.",
        ),
        Column(
            "client_library_confidence",
            Type.STRING,
            "likely: of the known libraries, only this one writes so; possible: another one may. NULL: no library.",
        ),
        Column("joined_generation", Type.INT, "Generation or group epoch of the first record with the member."),
        Column(
            "left_generation",
            Type.INT,
            "Generation or group epoch of the first record without the member; NULL: still a member.",
        ),
        Column(
            "away_since_time",
            Type.TIMESTAMP,
            "Since when a static member is away (member epoch -2); NULL: it is not away.",
        ),
        Column("leave_kind", Type.STRING, "How the member left, as far as records show; NULL: still a member."),
        *EVIDENCE,
    ),
)

OWNERSHIP_INTERVALS = history(
    "ownership_intervals",
    "group, topic partition and period with one owner in one phase",
    "Which member owned which partition, from when to when.",
    ("group_id", "topic", "topic_id", "partition", "role", "member_id", "phase", "from_offset"),
    (
        *GROUP,
        *TOPIC_PARTITION,
        *INTERVAL,
        MEMBER_ID,
        GROUP_INSTANCE_ID,
        *CLIENT,
        Column("generation_or_epoch", Type.INT, "Generation or member epoch at the start of the interval."),
        Column(
            "phase",
            Type.STRING,
            "assigned: the member owns the partition; revoking: it still owns the partition and must give it up; "
            "held: the partition is kept for a static member that is away.",
            is_nullable=False,
        ),
        Column("role", Type.STRING, "Streams: active, standby or warmup; else NULL."),
        Column("subtopology_id", Type.STRING, "Streams: the subtopology of the task; else NULL."),
        Column(
            "reader_certain_until_time",
            Type.TIMESTAMP,
            "The last commit or record that proves that the member was alive with the partition: until then it was its "
            "reader. NULL: the ownership has not ended (its newest commit is in offset_history), or the records have "
            "no time.",
        ),
        Column(
            "reader_doubt_from_time",
            Type.TIMESTAMP,
            "From then on the member may have stopped reading the partition, although the coordinator still names it. "
            "NULL: nothing shows that it may, or the records have no time.",
        ),
        Column(
            "start_offset",
            Type.BIGINT,
            "The group's committed offset when the ownership began; NULL: none, so auto.offset.reset applied.",
        ),
        Column(
            "end_offset",
            Type.BIGINT,
            "The group's committed offset when the ownership ended; NULL: none, or it has not ended.",
        ),
        *EVIDENCE,
    ),
    ("group_id", "topic", "partition", "from_offset", "member_id"),
)

REBALANCES = history(
    "rebalances",
    "completed generation, or epoch of a target assignment",
    "Every rebalance that left a record: its trigger, who joined and left, what moved, and how long partitions were "
    "unread.",
    ("group_id", "assignment_offset"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column("from_generation", Type.INT, "Generation or target epoch of the previous assignment; NULL: none."),
        Column("to_generation", Type.INT, "Generation or target epoch of this assignment.", is_nullable=False),
        Column(
            "start_time",
            Type.TIMESTAMP,
            "Earliest time that the records show for the rebalance. Classic: the end of the join phase, since no "
            "record shows when it began. NULL: the records have no time.",
        ),
        Column(
            "is_start_exact",
            Type.BOOLEAN,
            "TRUE: the rebalance began at start_time; FALSE: it may have begun earlier.",
            is_nullable=False,
        ),
        Column(
            "end_time",
            Type.TIMESTAMP,
            "Classic: when the assignment was written. Other types: when all members had their target, or another "
            "rebalance replaced this one. NULL: open.",
        ),
        IS_OPEN,
        Column(
            "duration_ms", Type.BIGINT, "From start_time to end_time, so for classic groups a lower bound; NULL: open."
        ),
        Column(
            "outcome",
            Type.STRING,
            "completed; superseded: another rebalance replaced it; emptied: the group has no members any more; open.",
            is_nullable=False,
        ),
        Column("trigger", Type.STRING, "What caused the rebalance; dim_enum explains the values.", is_nullable=False),
        Column("mode", Type.STRING, "eager, cooperative or incremental; NULL: the assignments do not show which."),
        Column("members_joined", ListOf(Type.STRING), "Member ids that joined.", is_nullable=False),
        Column(
            "members_departed",
            ListOf(Type.STRING),
            "Member ids that left, timed out or were removed.",
            is_nullable=False,
        ),
        Column("num_members_before", Type.INT, "Members at the previous assignment.", is_nullable=False),
        Column("num_members_after", Type.INT, "Members at this assignment.", is_nullable=False),
        Column("leader_before", Type.STRING, "Classic: member id of the leader at the previous assignment; else NULL."),
        Column("leader_after", Type.STRING, "Classic: member id of the leader at this assignment; else NULL."),
        Column("num_partitions", Type.INT, "Partitions assigned to members; NULL: an assignment cannot be read."),
        Column("num_moved", Type.INT, "Partitions that moved from one member to another."),
        Column("num_returned", Type.INT, "Partitions that were revoked and reassigned to the same member."),
        Column(
            "num_withheld",
            Type.INT,
            "Withheld partitions: claimed by a member and assigned to none, so that they can move in the next "
            "rebalance; NULL: not classic.",
        ),
        Column(
            "num_maybe_revoking",
            Type.INT,
            "Claimed partitions of known topics, which members may have to revoke (KIP-429); NULL: not classic.",
        ),
        Column(
            "num_ready_to_migrate",
            Type.INT,
            "Assigned partitions that no member claimed, which can move at once (KIP-429); NULL: not classic.",
        ),
        Column(
            "num_unknown_owned",
            Type.INT,
            "Claimed partitions of topics that the leader did not know (KIP-429); NULL: not classic.",
        ),
        Column(
            "num_unowned",
            Type.INT,
            "Partitions that had an owner in the previous assignment and have none in this one.",
        ),
        Column(
            "is_follow_up",
            Type.BOOLEAN,
            "TRUE: a cooperative follow-up: it assigns partitions that the previous rebalance withheld.",
            is_nullable=False,
        ),
        Column(
            "unpersisted_rounds",
            Type.INT,
            "Rebalances after the previous assignment that left no record: generation numbers that were skipped. "
            "NULL: not known.",
        ),
        Column(
            "sync_ms",
            Type.BIGINT,
            "Classic: from the end of the join phase to the assignment; NULL: no record shows the end of the join "
            "phase.",
        ),
        Column(
            "stopped_partition_ms",
            Type.BIGINT,
            "Sum of idle_ms of its partition_moves: how long partitions had no owner.",
        ),
        Column(
            "assignor_before",
            Type.STRING,
            "The assignor of the previous assignment; NULL: no previous assignment, or not recorded.",
        ),
        Column("assignor_after", Type.STRING, "The assignor of this assignment; NULL: not recorded."),
        Column("trigger_detail", Type.STRING, "What exactly changed, in words, with names; NULL: not known."),
        Column(
            "unread_partition_low_ms",
            Type.BIGINT,
            "Sum of unread_low_ms of its partition_moves: partitions were unread for this long or longer. NULL: no "
            "partition stopped.",
        ),
        Column(
            "unread_partition_high_ms",
            Type.BIGINT,
            "Sum of unread_high_ms of its partition_moves: partitions were unread for this long or less. NULL: no "
            "partition stopped.",
        ),
        Column(
            "longest_unread_high_ms",
            Type.BIGINT,
            "The largest unread_high_ms of its partition_moves; NULL: no partition stopped.",
        ),
        *EVIDENCE,
    ),
)

GENERATION_MEMBERS = history(
    "generation_members",
    "assignment and member",
    "The members of each assignment: the partitions that each had, claimed, was assigned, gained and lost (the sets "
    "of KIP-429).",
    ("group_id", "assignment_offset", "member_id"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        MEMBER_ID,
        Column("generation_or_epoch", Type.INT, "Classic: the generation; else the target epoch.", is_nullable=False),
        IS_OPEN,
        GROUP_INSTANCE_ID,
        Column(
            "change",
            Type.STRING,
            "joined; kept: a member before and after; left; restarted: the same static member under another member id.",
            is_nullable=False,
        ),
        Column("is_leader", Type.BOOLEAN, "Classic: TRUE for the leader; else NULL."),
        Column(
            "subscribed_topics",
            ListOf(Type.STRING),
            "Topics that the member subscribes to; NULL: cannot be read, or the member left.",
        ),
        Column(
            "previous_assigned",
            PARTITION_LISTS,
            "Partitions of the member in the previous assignment; NULL: not known.",
        ),
        Column(
            "claimed_owned",
            PARTITION_LISTS,
            "Classic: partitions that the member claimed: it reported them as its own when it joined. Other types: "
            "partitions that it owned, as the records of what it owns show. NULL: the subscription has no such field "
            "or cannot be read, or the member left.",
        ),
        Column(
            "assigned",
            PARTITION_LISTS,
            "Partitions of the member in this assignment; NULL: cannot be read, or the member left.",
        ),
        Column("added", PARTITION_LISTS, "Gained: in assigned, not in claimed_owned."),
        Column("revoked", PARTITION_LISTS, "To give up: in claimed_owned, not in assigned."),
        Column("kept", PARTITION_LISTS, "In both claimed_owned and assigned."),
        Column(
            "lost",
            PARTITION_LISTS,
            "Classic: all of previous_assigned, if the member lost its place in the group and rejoined with "
            "generation -1 and no claim.",
        ),
        Column(
            "dropped_before_join",
            PARTITION_LISTS,
            "Classic: in previous_assigned and not in claimed_owned, so the member gave them up before it joined; "
            "empty if the column lost has partitions.",
        ),
        *EVIDENCE,
    ),
)

PARTITION_MOVES = history(
    "partition_moves",
    "assignment and topic partition that changed",
    "Partitions that got another owner or stopped at an assignment, and how long no member read them.",
    # A member may get, or lose, the same partition twice under one assignment.
    ("group_id", "assignment_offset", "topic", "topic_id", "partition", "role", "kind", "from_member_id",
     "to_member_id", "move_offset"),
    (
        *GROUP,
        ASSIGNMENT_OFFSET,
        *TOPIC_PARTITION,
        IS_OPEN,
        Column("kind", Type.STRING, "moved, assigned, revoked, returned, lost, withheld, ready_to_migrate or "
               "unknown_owned; dim_enum explains them.", is_nullable=False),
        Column("from_member_id", Type.STRING, "Member id of the previous owner; NULL: none."),
        Column("to_member_id", Type.STRING, "Member id of the new owner; NULL: none."),
        Column("move_offset", Type.BIGINT, "Offset of the record that changed the owner.", is_nullable=False),
        Column("move_time", Type.TIMESTAMP, "When the owner changed; NULL: the record has no time."),
        Column("role", Type.STRING, "Streams: active, standby or warmup; else NULL."),
        Column("idle_ms", Type.BIGINT, "How long the partition had no owner before the move; NULL: not known, or it "
               "still has none."),
        Column("commit_gap_ms", Type.BIGINT, "From the last commit before the move to the first commit after it; "
               "NULL: one of them is missing."),
        Column("unread_low_ms", Type.BIGINT, "When the new owner began to read the partition, no member had read it "
               "for this long or longer; NULL: not known, or nobody has it yet."),
        Column("unread_high_ms", Type.BIGINT, "When the new owner began to read the partition, no member had read it "
               "for this long or less; NULL: not known, or nobody has it yet."),
        Column("unread_basis", Type.STRING, "What the bounds rest on, other than the records of the move: the timeout "
               "of the previous owner, and how the new one got the partition, each with its source; NULL: no bounds."),
        *EVIDENCE,
    ),
    ("group_id", "assignment_offset", "topic", "partition"),
)  # fmt: skip

REPLAY_ANOMALIES = history(
    "replay_anomalies",
    "anomaly",
    "Records that contradict each other, or that replay had to skip. All other records were replayed.",
    ("group_id", "kind", "record_offset", "evidence_partition", "message"),
    (
        Column("group_id", Type.STRING, "The group; NULL: the anomaly concerns the whole offsets partition."),
        Column(
            "kind", Type.STRING, "What is wrong, such as two_owners; dim_enum explains the values.", is_nullable=False
        ),
        Column("severity", Type.STRING, "critical, warning or info.", is_nullable=False),
        Column("record_offset", Type.BIGINT, "Offset of the record that shows the anomaly.", is_nullable=False),
        Column("record_time", Type.TIMESTAMP, "Time of that record; NULL: it has none."),
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
