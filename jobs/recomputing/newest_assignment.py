"""Reads a group's newest assignment from what `groupscope assignments` wrote, as input for other assignors."""

from jobs.answers import deleted_topics
from jobs.answers.history import History
from jobs.answers.table_reader import equal
from jobs.recomputing.facts import COLUMNS, NAMED_PARTITIONS, failing_if_newer, known_topics, partitions_of
from jobs.replaying.task.warehouse_state import PROGRESS
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.classic.state import latest
from udfs.audit.modern.questions import latest_of_group
from udfs.audit.states import GroupStates
from udfs.topics.partition_codes import TopicCodes
from udfs.topics.partition_counts import named_counts


def facts(history: History) -> Facts:
    rows = history.rows("topics", columns=["topic_id", *deleted_topics.COLUMNS])
    logged = {row["topic_id"]: row["topic"] for row in rows if row["topic_id"] is not None}
    rows_of_replay = history.reader.arrow(PROGRESS, NAMED_PARTITIONS, equal("cluster", history.cluster))
    named, proved = partitions_of(rows_of_replay)
    snapshots = history.reader.arrow("topic_snapshots", COLUMNS)
    topics = known_topics(snapshots, history.cluster, logged, named_counts(named, logged), named_counts(proved, logged))
    return Facts(topics, deleted_topics=deleted_topics.deleted_topics(rows))


def newest_assignment(history: History, group: str, known: Facts) -> Latest | None:
    """None: it has no assignment in force."""
    for row in history.rows("recomputed_groups", equal("group_id", group), columns=["state"]):
        codes = TopicCodes(known.names)
        states = GroupStates({group: row["state"]}, codes)
        with failing_if_newer():
            before, modern = (states.of_fold(part).get(group) for part in ("classic", "modern"))
        if before is not None and (of_classic := latest(before, known)) is not None:
            return of_classic
        return latest_of_group(group, modern, codes)
    return None
