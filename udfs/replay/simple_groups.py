"""Groups that have offsets and no record of their own: commits by admin tools and by consumers that assign themselves.
They exist while they have a live or pending key, and are no simple group while records of a group say otherwise."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from schemas.history_words import Confidence, GroupState, StateEnd
from udfs.replay.fold import Known
from udfs.replay.gaps import Gaps
from udfs.replay.records import Moment
from udfs.replay.rows import Rows

TABLE = "group_state_intervals"
GROUP_TYPE = "classic"


class Live(NamedTuple):
    """From the first live or pending key of a group to the end of its last; None: still."""

    from_offset: int
    from_time: int | None
    to_offset: int | None
    to_time: int | None


@dataclass
class Replayed:
    """What this run has replayed: rows that ended before are there already."""

    gaps: Gaps
    # Last offset of the run before; -1: none.
    after: int = -1
    # Last offsets before holes.
    holes: Collection[int] = ()


class Stay(NamedTuple):
    start: Moment
    end: Moment | None
    ended_by: StateEnd | None


def add_simple_groups(
    rows: Rows, open_rows: Rows, live: Mapping[str, Sequence[Live]], known: Mapping[str, Sequence[Known]],
    replayed: Replayed,
) -> None:  # fmt: skip
    for group_id, spans in live.items():
        for stay in simple_stays(spans, known.get(group_id, ()), replayed.holes):
            if stay.end is None:
                open_rows.add(TABLE, row(group_id, stay, replayed.gaps))
            elif stay.end.offset > replayed.after or stay.ended_by == StateEnd.COVERAGE_HOLE:
                # The last record before a hole is one of the run before, which did not know of the hole.
                rows.add(TABLE, row(group_id, stay, replayed.gaps))


def simple_stays(live: Sequence[Live], known: Sequence[Known], holes: Collection[int]) -> Iterator[Stay]:
    """Where keys live and no record tells of a group: what `known` leaves of `live`, both in order of offsets."""
    for span in live:
        start: Moment | None = Moment(span.from_offset, span.from_time)
        end = None if span.to_offset is None else Moment(span.to_offset, span.to_time)
        for first, last in known:
            if start is None or (end is not None and first.offset >= end.offset):
                break
            if first.offset > start.offset:
                yield Stay(start, first, StateEnd.NEXT_STATE)
            if last is None or last.offset > start.offset:
                start = last
        if start is not None and end is None:
            yield Stay(start, None, None)
        elif start is not None and end is not None and start.offset < end.offset:
            yield Stay(start, end, StateEnd.COVERAGE_HOLE if end.offset in holes else StateEnd.DELETED)


def row(group_id: str, stay: Stay, gaps: Gaps) -> tuple[Any, ...]:
    start, end = stay.start, stay.end
    to_time, to_offset = (None, None) if end is None else (end.time, end.offset)
    is_to_exact = end is None or (
        stay.ended_by != StateEnd.COVERAGE_HOLE and gaps.is_complete(start.offset, end.offset)
    )
    return (
        group_id, GROUP_TYPE, start.time, to_time, start.offset, to_offset, end is None,
        gaps.is_complete(-1, start.offset), is_to_exact, stay.ended_by, GroupState.EMPTY, None, None, None, 0,
        start.offset, start.offset if to_offset is None else to_offset, Confidence.CERTAIN,
    )  # fmt: skip
