"""Reads a group's newest assignment from what `groupscope assignments` wrote, as input for other assignors."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from jobs.answers import deleted_topics
from jobs.answers.history import History
from jobs.answers.table_reader import equal
from jobs.recomputing.facts import COLUMNS, NAMED_PARTITIONS, known_topics, partitions_of
from jobs.replaying.task.warehouse_state import PROGRESS
from udfs.audit import classic_audit, modern_audit
from udfs.audit.checks.audit_results import Latest
from udfs.audit.checks.facts import Facts
from udfs.topics.partition_counts import named_counts

# Columns of a group's state.
PARTS: Mapping[str, Callable[[str, Any, Facts], Latest | None]] = {
    "classic": classic_audit.latest_of,
    "modern": modern_audit.latest_of,
}


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
        states: dict[str, Any] = json.loads(row["state"])
        for part, latest_of in PARTS.items():
            if (latest := latest_of(group, states.get(part), known)) is not None:
                return latest
    return None
