"""A group at one time, in the columns of `kafka-consumer-groups --describe`."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jobs.answers.history import History
from jobs.answers.last_commits import last_commits
from jobs.answers.snapshots import EndOffset, assignor_in_use, coordinator, default_assignor, end_offsets
from jobs.answers.states.epochs import Epochs, epochs_at
from jobs.answers.states.members import Partitions, assignment_text, assignments_at, committed_at, members_at
from jobs.answers.table_reader import Row
from jobs.output.failure import say
from jobs.output.rows import time_text
from schemas.words.lag import LagVerdict
from schemas.words.records import GroupType


@dataclass(frozen=True)
class DescribedRows:
    """`names`: the columns of Kafka's tool. `beside`: columns of our own, by name. Programs get all of them, tables
    those of `IN_TABLES` that say something. `in_words`: such columns for tables alone."""

    names: list[str]
    rows: list[list[Any]]
    beside: dict[str, list[Any]] = field(default_factory=dict)
    in_words: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def of_table(self) -> "DescribedRows":
        own = self.beside | self.in_words
        shown = [name for name, plain in IN_TABLES.items() if {*own.get(name, ())} - plain]
        rows = [[*row, *more] for row, *more in zip(self.rows, *(own[name] for name in shown), strict=True)]
        return DescribedRows([*self.names, *shown], rows)

    def with_columns(self, columns: dict[str, list[Any]]) -> "DescribedRows":
        return replace(self, beside=self.beside | columns)


# Columns of our own in tables. Each value is one that says nothing: if all rows have it, the column is left out.
IN_TABLES: dict[str, set[Any]] = {"BEYOND-END": {None}, "VERDICT": {None, LagVerdict.OK}, "LIBRARY": {None}}


def offsets(history: History, state: Row, at: datetime, is_verbose: bool) -> DescribedRows:
    group = state["group_id"]
    committed = committed_at(history, group, at)
    members = {row["member_id"]: row for row in members_at(history, group, at)}
    assigned = assignments_at(history, state, at)
    ends = end_offsets(
        history, {topic for topic, _ in [*committed, *(tp for some in assigned.values() for tp in some)]}, at
    )
    say_when_captured(ends, at)
    commits = commit_times(history, committed, at)
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
    return DescribedRows(
        [*names, "CONSUMER-ID", "HOST", "CLIENT-ID"],
        rows,
        {
            "SNAPSHOT-TIME": [end.captured_time if end else None for _, _, end in shown],
            "BEYOND-END": [beyond_end(committed.get(tp), end) for _, tp, end in shown],
            "LAST-COMMIT-TIME": [commits.get(tp) for _, tp, _ in shown],
        },
    )


def commit_times(history: History, committed: dict[tuple[str, int], Row], at: datetime) -> dict[tuple[str, int], Any]:
    """When each partition was last committed."""
    return dict(zip(committed, last_commits(history, [*committed.values()], at), strict=True))


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
    """Beyond the end of the log there is nothing to read. Kafka's tool shows a negative number there."""
    number = distance(commit, end)
    return None if number is None else max(number, 0)


def beyond_end(commit: Row | None, end: EndOffset | None) -> int | None:
    """How far the committed offset is beyond the end of the log; None: it is not, or that is not known."""
    number = distance(commit, end)
    return -number if number is not None and number < 0 else None


def distance(commit: Row | None, end: EndOffset | None) -> int | None:
    """From the committed offset to the end of the log."""
    if commit is None or end is None or commit["committed_offset"] < 0:
        return None
    number = int(end.offset - commit["committed_offset"])
    # The partition has grown since the snapshot.
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
    if not is_verbose:
        return DescribedRows(names, rows)
    libraries = [(row["client_library"], row["client_library_confidence"]) for row in member_rows]
    return DescribedRows(
        names,
        rows,
        {
            "CLIENT-LIBRARY": [library for library, _ in libraries],
            "CLIENT-LIBRARY-CONFIDENCE": [confidence for _, confidence in libraries],
        },
        {"LIBRARY": [library and f"{library} ({confidence})" for library, confidence in libraries]},
    )


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
