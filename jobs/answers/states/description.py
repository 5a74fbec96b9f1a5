"""A group at one time, in the columns of `kafka-consumer-groups --describe`."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.answers.history import History
from jobs.answers.snapshots import EndOffset, assignor_in_use, coordinator, default_assignor, end_offsets
from jobs.answers.states.epochs import Epochs, epochs_at
from jobs.answers.states.members import Partitions, assignment_text, assignments_at, committed_at, members_at
from jobs.answers.table_reader import Row
from jobs.output.failure import say
from jobs.output.rows import time_text
from schemas.words.records import GroupType


@dataclass(frozen=True)
class DescribedRows:
    names: list[str]
    rows: list[list[Any]]
    # Only for programs, by name: tables have the columns of Kafka's tool and no others.
    beside: dict[str, list[Any]] = field(default_factory=dict)


def offsets(history: History, state: Row, at: datetime, is_verbose: bool) -> DescribedRows:
    group = state["group_id"]
    committed = committed_at(history, group, at)
    members = {row["member_id"]: row for row in members_at(history, group, at)}
    assigned = assignments_at(history, state, at)
    ends = end_offsets(
        history, {topic for topic, _ in [*committed, *(tp for some in assigned.values() for tp in some)]}, at
    )
    say_when_captured(ends, at)
    owners: list[tuple[str | None, Partitions]] = [
        # The member that owns most comes first.
        *sorted(assigned.items(), key=lambda item: (-len(item[1]), item[0])),
        (None, sorted(committed.keys() - {tp for some in assigned.values() for tp in some})),
    ]
    shown = [(member, tp, known_end(committed.get(tp), ends.get(tp))) for member, some in owners for tp in some]
    rows = [
        [group, *partition_cells(tp, committed.get(tp), end, is_verbose), *client_cells(member, members)]
        for member, tp, end in shown
    ]
    epoch = ["LEADER-EPOCH"] if is_verbose else []
    names = ["GROUP", "TOPIC", "PARTITION", *epoch, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    times = [end.captured_time if end else None for _, _, end in shown]
    return DescribedRows([*names, "CONSUMER-ID", "HOST", "CLIENT-ID"], rows, {"SNAPSHOT-TIME": times})


def known_end(commit: Row | None, end: EndOffset | None) -> EndOffset | None:
    """The end offset of another topic with the same name says nothing."""
    is_other = commit and end and commit["topic_id"] and end.topic_id and commit["topic_id"] != end.topic_id
    return None if is_other else end


def empty_columns(answer: DescribedRows) -> set[str]:
    """Columns without any value. Without rows, none: the names show what was asked for."""
    if not answer.rows:
        return set()
    return {name for place, name in enumerate(answer.names) if all(row[place] is None for row in answer.rows)}


def partition_cells(tp: tuple[str, int], commit: Row | None, end: EndOffset | None, is_verbose: bool) -> list[Any]:
    """Kafka's tool shows nothing for a negative commit."""
    commit = None if commit is None or commit["committed_offset"] < 0 else commit
    current = commit["committed_offset"] if commit else None
    epoch = [commit["leader_epoch"] if commit else None] if is_verbose else []
    return [*tp, *epoch, current, end.offset if end else None, lag(commit, end)]


def lag(commit: Row | None, end: EndOffset | None) -> int | None:
    if commit is None or end is None:
        return None
    number = int(end.offset - commit["committed_offset"])
    # The partition has grown since the snapshot. A commit that was beyond the end offset at the snapshot stays
    # negative, as in Kafka's tool.
    is_newer = commit["from_time"] is None or commit["from_time"] > end.captured_time
    return None if number < 0 and is_newer else number


def client_cells(member_id: str | None, members: dict[str, Row]) -> list[str | None]:
    member = members.get(member_id) if member_id is not None else None
    return [member_id, *((member["client_host"], member["client_id"]) if member else (None, None))]


def say_when_captured(ends: dict[tuple[str, int], EndOffset], at: datetime) -> None:
    times = {end.captured_time for end in ends.values()}
    if times and max(times) < at:
        newest = f"{time_text(max(times))}, the newest snapshot before {time_text(at)}"
        say(f"LOG-END-OFFSET and LAG use end offsets of {newest}")


def members(history: History, state: Row, at: datetime, is_verbose: bool) -> DescribedRows:
    member_rows = members_at(history, state["group_id"], at)
    assigned = assignments_at(history, state, at)
    epochs = epochs_at(history, state, at) if is_verbose else Epochs()
    has_instances = any(row["group_instance_id"] is not None for row in member_rows)
    is_mixed = {epochs.is_upgraded.get(row["member_id"]) for row in member_rows} >= {True, False}
    names = [
        "GROUP",
        "CONSUMER-ID",
        *(["GROUP-INSTANCE-ID"] if has_instances else []),
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
    ]
    if is_verbose:
        names += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        names += ["UPGRADED"] if is_mixed else []
    rows = []
    for row in member_rows:
        member = row["member_id"]
        partitions = assigned.get(member, [])
        instance = [row["group_instance_id"] or ""] if has_instances else []
        cells = [row["group_id"], member, *instance, row["client_host"], row["client_id"], len(partitions)]
        if is_verbose:
            cells += [epochs.member_epochs.get(member), assignment_text(partitions)]
            cells += [epochs.target_epoch, assignment_text(epochs.targets.get(member, []))]
            cells += [epochs.is_upgraded.get(member)] if is_mixed else []
        rows.append(cells)
    return DescribedRows(names, rows)


def group_state(history: History, state: Row, at: datetime, is_verbose: bool) -> DescribedRows:
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
    cells = [state["group_id"], coordinator(history, state["evidence_partition"], at)]
    cells += [assignment_strategy(history, state, at), state["state"]]
    if is_verbose:
        names += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
        is_classic = state["group_type"] == GroupType.CLASSIC
        cells += [None if is_classic else state["generation_or_epoch"], epochs_at(history, state, at).target_epoch]
    return DescribedRows([*names, "#MEMBERS"], [[*cells, state["num_members"]]])


def assignment_strategy(history: History, state: Row, at: datetime) -> str | None:
    return assignor_in_use(state, lambda: default_assignor(history, at))
