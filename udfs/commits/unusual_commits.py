"""Commits that users may not expect, as rows of replay_anomalies: the broker's clock went back, or older coordinators
hold another offset.

Every coordinator writes such records; none of them is a fault of the log."""

from collections.abc import Callable

import pyarrow as pa

from schemas.words.history import AnomalyKind
from udfs.arrays.nullable import Numbers
from udfs.commits.anomalies import CommitAnomalies, certain_rows
from udfs.commits.effects.fields import O, S
from udfs.commits.key_states import KeyStates


def clock_steps(states: KeyStates, steps: Numbers) -> pa.Table:
    """One row for each step back, mostly at a failover; not for each record until the clock has caught up: those may
    be millions."""
    messages = [f"the record's time is {(old - new) // 1000:,} ms earlier than that of the group's previous commit"
                for new, old in steps[:, [S.time, S.time_before]].tolist()]  # fmt: skip
    group, offset = states.group_names.known.take(pa.array(steps[:, S.group])), steps[:, S.offset]
    anomalies = CommitAnomalies(group, offset, steps[:, S.time], offset, messages)
    return certain_rows(AnomalyKind.CLOCK_WENT_BACK, anomalies, states.cluster, states.partition)


def older_rules(states: KeyStates, overruled: Numbers) -> list[pa.Table]:
    """Commits of transactions that older coordinators restore, each at its COMMIT marker: those whose offset was
    deleted while they were pending, and those older than the commit in effect."""
    is_deleted = overruled[:, O.is_deleted] == 1
    return [
        restored(AnomalyKind.PENDING_OUTLIVED_DELETION, states, overruled[is_deleted], outlived),
        restored(AnomalyKind.OLDER_RULE, states, overruled[~is_deleted], older),
    ]


def restored(
    kind: AnomalyKind, states: KeyStates, overruled: Numbers, message: Callable[[str, list[int]], str]
) -> pa.Table:
    group, topic, partition = states.key_codes.known[:, overruled[:, O.key]]
    topics = states.topic_names.known.take(pa.array(topic)).to_pylist()
    rows = zip(topics, partition.tolist(), overruled.tolist(), strict=True)
    messages = [message(f"{name}-{number}", row) for name, number, row in rows]
    groups = states.group_names.known.take(pa.array(group))
    offset, time = overruled[:, O.marker_offset], overruled[:, O.marker_time]
    anomalies = CommitAnomalies(groups, offset, time, overruled[:, O.offset], messages)
    return certain_rows(kind, anomalies, states.cluster, states.partition)


def outlived(place: str, row: list[int]) -> str:
    """Today's coordinator forgets the pending commit, and so does this replay. The old one keeps pending commits when
    it loads the log, the preview of 3.7 always."""
    return (
        f"{place}: a pending offset outlived a deletion: record {row[O.newer_offset]} deleted the offset that record "
        f"{row[O.offset]} had pending in a transaction, which committed later. Kafka's brokers write this. The offset "
        "stays deleted. Only coordinators up to 3.9 may restore it: the old one when it loads the log, that of 3.7 "
        "(early access) at the COMMIT"
    )


def older(place: str, row: list[int]) -> str:
    """Today's coordinator keeps the later record; the preview of 3.7 keeps the commit whose COMMIT marker is later."""
    first, newer, theirs = row[O.offset], row[O.newer_offset], row[O.committed]
    return (
        f"{place}: offset {theirs} of record {first} was pending in a transaction until after record {newer} committed "
        f"{row[O.newer_committed]}. On that COMMIT, the new coordinator of 3.7 (early access) restores {theirs}; all "
        f"others keep {row[O.newer_committed]}"
    )
