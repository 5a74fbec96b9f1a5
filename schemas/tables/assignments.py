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
    "Every recorded assignment beside the one that Kafka's own assignor gives for the same input.",
    ("cluster", "group_id", "assignment_offset"),
    ("cluster", "group_id", "assignment_offset"),
    (
        CLUSTER,
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column("generation_or_epoch", Type.INT, "Classic: the generation; else the target epoch.", is_nullable=False),
        Column("record_time", Type.TIMESTAMP, "Time of the record that completes the assignment."),
        Column("assignor", Type.STRING, "The assignor in force; NULL: cannot be determined."),
        Column("assignor_source", Type.STRING, "How it is known; NULL: it is not."),
        Column("algorithm", Type.STRING, "Which of its algorithms the input calls for; NULL: nothing was recomputed."),
        Column("verdict", Type.STRING, "Whether Kafka's assignor gives the same.", is_nullable=False),
        Column("reason", Type.STRING, "Why it differs, or why nothing could be recomputed; NULL: the same."),
        count("num_partitions", "Partitions of the topics that the group subscribes to; NULL: unknown."),
        count("num_different", "Partitions that have another owner than expected; NULL: nothing was recomputed."),
        Column(
            "differences",
            ListOf(
                StructOf(
                    (
                        Column("topic", Type.STRING, "The topic."),
                        Column("partition", Type.INT, "The partition."),
                        Column("recorded_member_id", Type.STRING, "Who has it; NULL: nobody."),
                        Column("expected_member_id", Type.STRING, "Who should have it; NULL: nobody."),
                    )
                )
            ),
            "The first 1,000 of these; NULL: nothing was recomputed.",
        ),
        count("num_unowned", "Partitions of subscribed topics that nobody has; NULL: unknown how many there are."),
        count("num_owned_twice", "Partitions that more members have than the assignor allows."),
        count("num_nonexistent", "Assigned partitions that their topic does not have; NULL: unknown how many it has."),
        count("num_idle_members", "Members that have no partition."),
        count("imbalance", "Largest difference in partitions among members of equal subscriptions."),
        count("moves_made", "Partitions whose owner changed since the assignment before; NULL: that is not known."),
        count("moves_needed", "The least that a balanced assignment had to move; NULL: unknown."),
        Column("partition_counts_source", Type.STRING, "Where numbers of partitions come from; NULL: not known."),
        Column(
            "variant",
            Type.STRING,
            "Release line, Java line and order of members that the verdict rests on; NULL: none.",
        ),
        Column("known_defect", Type.STRING, "The JIRA issue of Kafka whose signature the records bear; NULL: none."),
        Column(
            "checks",
            ListOf(
                StructOf(
                    (
                        Column("name", Type.STRING, "What was checked, such as valid or cooperative_safe."),
                        Column("is_ok", Type.BOOLEAN, "Whether it holds; NULL: cannot be determined."),
                        Column("detail", Type.STRING, "What was found where it does not; else NULL."),
                    )
                )
            ),
            "Properties that hold for every assignment of its kind, and those that the settings ask for.",
        ),
        *EVIDENCE,
    ),
    JOB,
)

ASSIGNMENT_WHATIF = Table(
    "assignment_whatif",
    "group's latest assignment, by assignor",
    "What each assignor would assign to the group in its current state.",
    ("cluster", "group_id", "group_protocol", "assignor"),
    ("cluster", "group_id", "group_protocol", "assignor"),
    (
        CLUSTER,
        *GROUP,
        ASSIGNMENT_OFFSET,
        Column("group_protocol", Type.STRING, "Whose assignor: classic, consumer or share.", is_nullable=False),
        Column("assignor", Type.STRING, "Kafka's name of the assignor.", is_nullable=False),
        count(
            "imbalance", "Largest difference in partitions among members of equal subscriptions; NULL: not possible."
        ),
        count("moves_from_current", "Partitions that would change their owner; NULL: not possible."),
        count("partitions_stopped", "Partitions that nobody reads meanwhile; NULL: not possible."),
        Column("is_possible", Type.BOOLEAN, "FALSE: the group cannot use it in its current state.", is_nullable=False),
        Column("reason", Type.STRING, "Why not; or what the answer leaves out; NULL: nothing to say."),
        *EVIDENCE,
    ),
    JOB,
)

WHO = ListOf(
    StructOf(
        (
            Column("member_id", Type.STRING, "The member."),
            Column("group_instance_id", Type.STRING, "Its own static id; NULL: a dynamic member."),
            Column("client_id", Type.STRING, "Its client id."),
            Column("client_host", Type.STRING, "Its address as Java prints it."),
        )
    )
)

ASSIGNOR_UPGRADES = Table(
    "assignor_upgrades",
    "group, by migration",
    "Progress of each group's migration to another assignor or protocol, and what blocks it.",
    ("cluster", "group_id", "migration"),
    ("cluster", "group_id", "migration"),
    (
        CLUSTER,
        *GROUP,
        Column("migration", Type.STRING, "From what to what.", is_nullable=False),
        Column("phase", Type.STRING, "How far it has come.", is_nullable=False),
        Column("members_done", WHO, "Members that have changed."),
        Column("members_remaining", WHO, "Members that have not."),
        Column("started_time", Type.TIMESTAMP, "First record that shows it; NULL: not started."),
        Column("finished_time", Type.TIMESTAMP, "The record from which on every member has changed; NULL: not yet."),
        Column("readiness", Type.STRING, "Whether the rest can follow.", is_nullable=False),
        Column(
            "blockers",
            ListOf(
                StructOf(
                    (
                        Column("kind", Type.STRING, "What blocks it, such as custom_assignor."),
                        Column("member_id", Type.STRING, "The member that it is about; NULL: the group."),
                        Column("detail", Type.STRING, "What was found."),
                    )
                )
            ),
            "Everything that blocks it.",
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
