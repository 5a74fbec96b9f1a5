"""Groups that have offsets and no record of their own: admin tools and consumers that assign partitions themselves
commit so. They exist while they have a live or pending key, and are not simple groups while records of a group say
otherwise. Where such records may be missing, the type, state and members of the group are unknown."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from schemas.words.history import Confidence, GroupState, StateEnd
from udfs.groups.fold import KnownPeriod
from udfs.groups.history.intervals import StateStretch
from udfs.groups.history.ledger import state_row
from udfs.groups.history.rows import Row, RowsByTable
from udfs.groups.readers.records import Moment
from udfs.log.gaps import Gaps

GROUP_TYPE = "classic"
END_OF_LOG = 2**63 - 1


class Live(NamedTuple):
    """From the first live or pending key of a group to the end of its last; None: still. `is_cut`: it ends where
    records are missing, and the record before ended nothing."""

    from_record_offset: int
    from_time: int | None
    to_record_offset: int | None
    to_time: int | None
    is_cut: bool = False


class Span(NamedTuple):
    """`last`: where it ends; END_OF_LOG: it has not ended."""

    first: int
    last: int


@dataclass
class Replayed:
    """What this run has replayed. Rows that ended before it exist already."""

    gaps: Gaps
    # Last offset of the previous run; -1: none.
    after: int = -1
    # The last offset before each hole; -1: the beginning of the log was not read.
    holes: Collection[int] = ()
    # By group, when it has offsets that are only possible, in order.
    possible: Mapping[str, Sequence[Span]] = field(default_factory=dict)


class Stay(NamedTuple):
    """One period of a simple group. `since`: the record that ended what the log had of a group before; -1: none."""

    since: int
    start: Moment
    end: Moment | None
    ended_by: StateEnd | None


def add_simple_groups(
    rows: RowsByTable,
    open_rows: RowsByTable,
    live: Mapping[str, Sequence[Live]],
    known: Mapping[str, Sequence[KnownPeriod]],
    replayed: Replayed,
) -> None:
    for group_id, spans in live.items():
        for stay in simple_stays(spans, known.get(group_id, ())):
            if stay.end is None:
                open_rows.add(row(group_id, stay, replayed))
            elif stay.end.offset > replayed.after or stay.ended_by == StateEnd.COVERAGE_HOLE:
                # The last record before a hole belongs to the previous run, which did not know of the hole.
                rows.add(row(group_id, stay, replayed))


def simple_stays(live: Sequence[Live], known: Sequence[KnownPeriod]) -> Iterator[Stay]:
    """Periods in which keys live and no record of a group exists: `live` without `known`, both in offset order."""
    for span in live:
        since, start = -1, Moment(span.from_record_offset, span.from_time)
        is_over = False
        end = None if span.to_record_offset is None else Moment(span.to_record_offset, span.to_time)
        for first, last in known:
            # The last record before a hole may be the one that begins a group.
            if end is not None and first.offset > end.offset:
                break
            if first.offset > start.offset:
                yield Stay(since, start, first, StateEnd.NEXT_STATE)
            is_over = last is None
            if last is None:
                break
            since, start = last.offset, max(start, last, key=lambda at: at.offset)
        if is_over:
            continue
        if end is None:
            yield Stay(since, start, None, None)
        elif start.offset < end.offset:
            yield Stay(since, start, end, StateEnd.COVERAGE_HOLE if span.is_cut else StateEnd.DELETED)


def merged_spans(rows: pa.Table) -> dict[str, list[Span]]:
    """By group; of those that overlap or follow each other, one. `rows`: `Finished.possible`."""
    result: dict[str, list[Span]] = {}
    columns = (rows.column(name).to_pylist() for name in ("group_id", "from_record_offset", "to_record_offset"))
    for group_id, first, to_record_offset in sorted(zip(*columns, strict=True), key=lambda each: each[:2]):
        spans, last = result.setdefault(group_id, []), END_OF_LOG if to_record_offset is None else to_record_offset
        if spans and first <= spans[-1].last:
            spans[-1] = Span(spans[-1].first, max(spans[-1].last, last))
        else:
            spans.append(Span(first, last))
    return result


def is_whole(stay: Stay, replayed: Replayed) -> bool:
    """Whether no record of a group can be missing before. Compaction removes a record only when a later one has its
    key: if the log has none, compaction removed none."""
    if any(stay.since <= hole < stay.start.offset for hole in replayed.holes):
        return False
    if stay.end is None or stay.ended_by == StateEnd.DELETED:
        return True
    return replayed.gaps.is_complete(stay.since, stay.end.offset)


def confidence_of(group_id: str, stay: Stay, replayed: Replayed) -> Confidence:
    """That of the offsets that the group has at the end, or now: where these are only possible, so is the group."""
    end = END_OF_LOG if stay.end is None else stay.end.offset
    spans = replayed.possible.get(group_id, ())
    place = bisect_left(spans, end, key=lambda span: span.last)
    # The last record before a hole may be the commit itself; any other end takes the offsets away.
    before = end + 1 if stay.ended_by == StateEnd.COVERAGE_HOLE else end
    is_possible = place < len(spans) and spans[place].first < before
    return Confidence.POSSIBLE if is_possible else Confidence.CERTAIN


def row(group_id: str, stay: Stay, replayed: Replayed) -> Row:
    start, end, gaps = stay.start, stay.end, replayed.gaps
    state_columns = (GROUP_TYPE, GroupState.EMPTY, 0, confidence_of(group_id, stay, replayed))
    group_type, state, num_members, confidence = (
        state_columns if is_whole(stay, replayed) else (None, None, None, Confidence.POSSIBLE)
    )
    to_time, to_record_offset = (None, None) if end is None else (end.time, end.offset)
    is_to_exact = end is None or (
        stay.ended_by != StateEnd.COVERAGE_HOLE and gaps.is_complete(start.offset, end.offset)
    )
    of = StateStretch(
        from_time=start.time,
        from_record_offset=start.offset,
        is_from_exact=gaps.is_complete(-1, start.offset),
        last_offset=start.offset,
        group_type=group_type,
        state=state,
        generation_or_epoch=None,
        protocol_type=None,
        assignor=None,
        num_members=num_members,
        confidence=confidence,
    )
    return state_row(group_id, of, to_time, to_record_offset, is_to_exact, stay.ended_by)
