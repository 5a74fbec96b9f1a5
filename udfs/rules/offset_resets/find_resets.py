"""Finds offsets that were removed or that moved in another way than by reading on: one row per group, topic and
operation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.words.history import Confidence
from schemas.words.lag import ResetActor, ResetKind
from udfs.arrays.capped import capped
from udfs.arrays.nullable import integers
from udfs.lag.as_of import NOWHERE
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.measure import Measure
from udfs.rules.offset_resets.choose_resets import Judge, JudgedMoves, actors
from udfs.rules.offset_resets.moved_messages import messages_reread, messages_skipped
from udfs.rules.offset_resets.removals import removal_rows, removed_offsets
from udfs.rules.offset_resets.reset_rows import Event, by_operation, in_order, table_of

# From so many signs of an admin tool on: what the row says is likely.
LIKELY_SCORE = 4


class Resets(Measure):
    """Of operations at `settled_from` or later, in microseconds; None: of all. Columns of offset_resets without those
    that the job adds."""

    def __init__(self, settled_from: int | None, judge: Judge) -> None:
        self.settled_from, self.judge = settled_from, judge
        self.removed: list[pa.Table] = []

    def take(self, history: PartitionHistory) -> None:
        self.removed.append(removed_offsets(history, self.settled_from))

    def rows(self, history: PartitionHistory) -> pa.Table:
        moved = table_of(move_events(history, self.judge.judged_moves(history)), history.offsets_partition)
        return in_order(pa.concat_tables([removal_rows(self.removed, history.offsets_partition), moved]))


def move_events(history: PartitionHistory, judged: JudgedMoves) -> Iterator[Event]:
    """The rows of one operation have one time, whichever topics it is about: it began once."""
    for operation in by_operation(with_signs(history, judged), "operation"):
        times = [row["from_time"] for row in operation]
        for of_topic in by_operation(operation, "topic", "topic_id"):
            yield event(of_topic, None if None in times else min(times))


def with_signs(history: PartitionHistory, judged: JudgedMoves) -> list[dict[str, Any]]:
    """The resets as dictionaries, each with what was found out about it."""
    moves, which = judged.moves, np.flatnonzero(judged.is_reset)
    names = ["group_id", "topic", "topic_id", "partition", "from_time", "from_record_offset", "committed_offset",
             "previous_offset", "leader_epoch", "metadata"]  # fmt: skip
    rows = moves.rows.select(names)
    rows = rows.set_column(4, "from_time", rows.column("from_time").cast(pa.int64()))
    state_rows = pa.array(moves.states.row, mask=moves.states.row == NOWHERE)
    facts = {
        "operation": moves.operation,
        "is_cut": moves.is_cut,
        "is_at_start": moves.is_at_start,
        "is_shift": judged.is_shift,
        "is_at_end": moves.is_at_end,
        "is_edge": judged.is_edge,
        "is_empty": moves.states.is_empty,
        "is_possible": moves.is_possible,
        "num_commits": judged.num_commits,
        "actor": pa.array(actors(judged), pa.string()),
        "group_type": history.table("group_state_intervals").column("group_type").take(state_rows),
        "num_members": integers(moves.states.num_members),
        "messages_reread": integers(messages_reread(moves)),
        "messages_skipped": integers(messages_skipped(moves)),
    }
    for name, column in facts.items():
        rows = rows.append_column(name, column if isinstance(column, pa.ChunkedArray) else pa.array(column))
    resets: list[dict[str, Any]] = rows.take(pa.array(which)).to_pylist()
    return resets


def event(operation: list[Mapping[str, Any]], at_time: int | None) -> Event:
    """Of one topic."""
    first, kind = operation[0], kind_of(operation)
    score = None if kind == ResetKind.TRUNCATION else signature_score(operation)
    offsets = [int(row["from_record_offset"]) for row in operation]
    actor = first["actor"]
    return Event(
        group_id=first["group_id"],
        group_type=first["group_type"],
        topic=first["topic"],
        topic_id=first["topic_id"],
        at_time=at_time,
        kind=kind,
        actor=actor,
        confidence=confidence(kind, score, is_possible=is_possible(operation)),
        score=score,
        num_members=first["num_members"],
        first_offset=min(offsets),
        last_offset=max(offsets),
        messages_reread=total(row["messages_reread"] for row in operation),
        messages_skipped=total(row["messages_skipped"] for row in operation),
        moved=tuple((row["partition"], row["previous_offset"], row["committed_offset"]) for row in operation),
    )


def total(numbers: Iterable[int | None]) -> int | None:
    """None: one of them is not known."""
    known = [*numbers]
    return None if None in known else capped(sum(number or 0 for number in known))


def kind_of(operation: list[Mapping[str, Any]]) -> ResetKind:
    """A common shift may end between the ends of two snapshots by chance, so it counts before them."""
    for sign, kind in (
        ("is_cut", ResetKind.TRUNCATION),
        ("is_at_start", ResetKind.TO_EARLIEST),
        ("is_shift", ResetKind.SHIFT),
        ("is_at_end", ResetKind.TO_LATEST),
    ):
        if all(row[sign] for row in operation):
            return kind
    return ResetKind.TO_OFFSET


def signature_score(operation: list[Mapping[str, Any]]) -> int:
    """How many of the five signs of an admin tool there are."""
    return sum(
        (
            all(row["is_empty"] for row in operation),
            all(row["leader_epoch"] is None for row in operation),
            all(not row["metadata"] for row in operation),
            operation[0]["num_commits"] > 1,
            all(row["is_edge"] for row in operation),
        )
    )


def is_possible(operation: list[Mapping[str, Any]]) -> bool:
    """So is one of the commits, or records of the group are missing."""
    is_unknown = operation[0]["actor"] == ResetActor.UNKNOWN and operation[0]["num_members"] is None
    return is_unknown or any(row["is_possible"] for row in operation)


def confidence(kind: ResetKind, score: int | None, *, is_possible: bool) -> Confidence:
    if is_possible:
        return Confidence.POSSIBLE
    is_likely = kind == ResetKind.TRUNCATION or (score is not None and score >= LIKELY_SCORE)
    return Confidence.LIKELY if is_likely else Confidence.POSSIBLE
