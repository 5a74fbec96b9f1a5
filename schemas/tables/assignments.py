"""What becomes of recorded assignments when they are computed anew: written by `assignments`."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type
from schemas.tables.history_columns import ASSIGNMENT_OFFSET, EVIDENCE, GROUP
from schemas.tables.record_columns import CLUSTER

JOB = "assignments"


def count(name: str, comment: str) -> Column:
    return Column(name, Type.INT, comment)


ASSIGNMENT_AUDIT = Table(
    "assignment_audit",
    "assignment",
    "Every recorded assignment, compared with the one that Kafka's own assignor gives for the same input.",
    # A group may have records in several offsets partitions, each with offsets of its own.
    ("cluster", "group_id", "assignment_offset", "evidence_partition"),
    ("cluster", "group_id", "assignment_offset"),
    (
        CLUSTER,
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column("generation_or_epoch", Type.INT, "Classic: the generation; else the target epoch.", is_nullable=False),
        Column("record_time", Type.TIMESTAMP, "Time of the record that completes the assignment."),
        Column("assignor", Type.STRING, "The assignor that made the assignment; NULL: cannot be determined."),
        Column("assignor_source", Type.STRING, "How the assignor is known; NULL: the assignor is not known."),
        Column(
            "algorithm",
            Type.STRING,
            "Which of the assignor's algorithms applies to this input; NULL: nothing was recomputed.",
        ),
        Column(
            "verdict",
            Type.STRING,
            "The assignment verdict: whether the assignor gives the same assignment; dim_enum explains the values.",
            is_nullable=False,
        ),
        Column(
            "reason",
            Type.STRING,
            "Why the assignment differs, or why it could not be recomputed: a sentence, or a word that dim_enum "
            "explains; NULL: it is the same.",
        ),
        Column(
            "stale_topics",
            ListOf(Type.STRING),
            "Topics of which the leader's metadata were stale (verdict stale_input); NULL: none.",
        ),
        count("num_partitions", "Partitions of the topics that the group subscribes to; NULL: unknown."),
        count("num_different", "Partitions that have another owner than expected; NULL: nothing was recomputed."),
        Column(
            "differences",
            ListOf(
                StructOf(
                    (
                        Column("topic", Type.STRING, "The topic."),
                        Column("partition", Type.INT, "The partition."),
                        Column("recorded_member_id", Type.STRING, "Owner in the recorded assignment; NULL: none."),
                        Column("expected_member_id", Type.STRING, "Owner that the assignor computes; NULL: none."),
                    )
                )
            ),
            "The partitions that num_different counts, but only the first 1,000; NULL: nothing was recomputed.",
        ),
        count(
            "num_unowned",
            "Partitions of subscribed topics without an owner; NULL: the number of partitions is unknown.",
        ),
        count("num_owned_twice", "Partitions with more owners than the assignor allows."),
        count(
            "num_nonexistent",
            "Assigned partitions that do not exist in their topic; NULL: the number of partitions is unknown.",
        ),
        count("num_idle_members", "Members that have no partition."),
        count("imbalance", "Among members with equal subscriptions, the largest difference in numbers of partitions."),
        count("moves_made", "Partitions whose owner changed since the previous assignment; NULL: not known."),
        count("moves_needed", "The fewest partitions that had to move for a balanced assignment; NULL: unknown."),
        Column(
            "partition_counts_source", Type.STRING, "How the numbers of partitions are known; NULL: they are not known."
        ),
        Column(
            "variant",
            Type.STRING,
            "Inputs that no record shows, so that the verdict assumes them: releases of clients or broker, Java "
            "versions, order of members in memory, the epoch whose inputs were used; NULL: nothing was assumed.",
        ),
        Column(
            "known_defect",
            Type.STRING,
            "The known defect of Kafka or of a client library whose signs the assignment shows: an issue such as "
            "KAFKA-8355, or a short description; NULL: none.",
        ),
        Column(
            "checks",
            ListOf(
                StructOf(
                    (
                        Column("name", Type.STRING, "What was checked, such as valid or cooperative_safe."),
                        Column("is_ok", Type.BOOLEAN, "TRUE: the check passed; NULL: cannot be determined."),
                        Column(
                            "detail",
                            Type.STRING,
                            "Why the check failed. For the check withheld, which always passes: the partitions that "
                            "are withheld. Otherwise NULL.",
                        ),
                    )
                )
            ),
            "Checks of properties that every assignment of this kind must have, and of those that [[groups]] of the "
            "settings requires.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

ASSIGNMENT_WHATIF = Table(
    "assignment_whatif",
    "group and assignor, for the group's latest assignment",
    "What each assignor would assign to the group in its current state.",
    ("cluster", "group_id", "group_protocol", "assignor"),
    ("cluster", "group_id", "group_protocol", "assignor"),
    (
        CLUSTER,
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column(
            "group_protocol", Type.STRING, "Protocol of the assignor: classic, consumer or share.", is_nullable=False
        ),
        Column("assignor", Type.STRING, "Kafka's name of the assignor.", is_nullable=False),
        count(
            "imbalance",
            "Among members with equal subscriptions, the largest difference in numbers of partitions; NULL: "
            "is_possible is FALSE.",
        ),
        count("moves_from_current", "Partitions that would get another owner; NULL: is_possible is FALSE."),
        count(
            "partitions_stopped", "Partitions that no member would read during the change; NULL: is_possible is FALSE."
        ),
        Column(
            "is_possible",
            Type.BOOLEAN,
            "FALSE: the group cannot use this assignor in its current state.",
            is_nullable=False,
        ),
        Column(
            "reason",
            Type.STRING,
            "Why the group cannot use the assignor, or which facts the row leaves out; NULL: neither applies.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

WHO = ListOf(
    StructOf(
        (
            Column("member_id", Type.STRING, "The member."),
            Column("group_instance_id", Type.STRING, "The member's own static id; NULL: a dynamic member."),
            Column("client_id", Type.STRING, "Client id of the member's connection."),
            Column("client_host", Type.STRING, "The member's address as Java prints it."),
        )
    )
)

ASSIGNOR_UPGRADES = Table(
    "assignor_upgrades",
    "group and migration",
    "Progress of each group's migration to another assignor or protocol, and what blocks it.",
    ("cluster", "group_id", "migration"),
    ("cluster", "group_id", "migration"),
    (
        CLUSTER,
        *GROUP,
        Column(
            "migration",
            Type.STRING,
            "From which assignor or protocol to which; dim_enum explains the values.",
            is_nullable=False,
        ),
        Column(
            "phase", Type.STRING, "How far the migration has come; dim_enum explains the values.", is_nullable=False
        ),
        Column("members_done", WHO, "Members that use the new assignor or protocol."),
        Column("members_remaining", WHO, "Members that do not use the new assignor or protocol yet."),
        Column("started_time", Type.TIMESTAMP, "Time of the first record that shows the migration; NULL: not started."),
        Column(
            "finished_time",
            Type.TIMESTAMP,
            "Time of the first record after which every member uses the new assignor or protocol; NULL: not finished.",
        ),
        Column(
            "readiness",
            Type.STRING,
            "Whether the remaining members can change too: ready, blocked or unknown.",
            is_nullable=False,
        ),
        Column(
            "blockers",
            ListOf(
                StructOf(
                    (
                        Column("kind", Type.STRING, "What blocks the migration, such as custom_assignor."),
                        Column(
                            "member_id", Type.STRING, "The member that blocks the migration; NULL: the whole group."
                        ),
                        Column("detail", Type.STRING, "What was found."),
                    )
                )
            ),
            "Everything that blocks the migration.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

TABLES: tuple[Table, ...] = (
    ASSIGNMENT_AUDIT,
    ASSIGNMENT_WHATIF,
    ASSIGNOR_UPGRADES,
)
