"""Which partitions changed owners or stopped under which target assignment, and how long they were unowned."""

from collections.abc import Iterable

from schemas.words.history import MoveKind, RebalanceOutcome, TaskRole
from udfs.groups.history.reading_ends import UNKNOWN_END, ReadingEnd, known_end
from udfs.groups.history.row_makers import PARTITION_MOVE, READING_END
from udfs.groups.history.rows import Row, RowsByTable
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import Modern, Place, Rebalance, Stop, Tps

# Rebalances of streams groups count only active tasks: the other roles stop nothing.
COUNTED_ROLES = (None, TaskRole.ACTIVE)


def stop_reading(
    now: Modern, role: str | None, tps: Tps, member_id: str, at: Moment, by: Rebalance | None, end: ReadingEnd | None
) -> None:
    """The member lost the partitions, which are now unread unless other members own them too."""
    stop = Stop(
        member_id=member_id,
        time=at.time,
        offset=at.offset,
        assignment_offset=None if by is None else by.assignment_offset,
        is_reported=False,
        end=end,
    )
    set_stop(now, role, now.holders.unheld(role, tps), stop)


def gain(group: Group, now: Modern, role: str | None, tps: Tps, member_id: str, at: Moment) -> None:
    taken = [((tp, role), now.stops.pop((tp, role), None)) for tp in tps] if now.stops else []
    if now.assignment_offset is None:
        return
    fresh = tps if not taken else frozenset(tp for (tp, _), stop in taken if stop is None)
    if fresh:
        add_move(group, now, role, fresh, MoveKind.ASSIGNED, None, member_id, at, None, at.offset, None)
    for _, some, stop in together((place, stop) for place, stop in taken if stop is not None):
        kind = MoveKind.RETURNED if stop.member_id == member_id else MoveKind.MOVED
        idle = milliseconds(stop.time, at.time)
        # The time before the stop was counted where the stop was reported.
        end = known_end(stop.time) if stop.is_reported else stop.end
        add_move(group, now, role, some, kind, stop.member_id, member_id, at, idle, stop.offset, end)
        if now.rebalance is not None and role in COUNTED_ROLES:
            now.rebalance.num_moved += len(some) if kind == MoveKind.MOVED else 0
            now.rebalance.num_returned += len(some) if kind == MoveKind.RETURNED else 0
            now.rebalance.stopped_ms += (idle or 0) * len(some)


def add_move(
    group: Group, now: Modern, role: str | None, tps: Tps, kind: MoveKind, before: str | None, after: str | None,
    at: Moment, idle_ms: int | None, first_offset: int, end: ReadingEnd | None,
) -> None:  # fmt: skip
    assert now.assignment_offset is not None
    rows, is_counted = group.context.rows, now.rebalance is not None and role in COUNTED_ROLES
    rows.add(row(group, now, now.assignment_offset, role, tps, kind, before, after, at, idle_ms, first_offset))
    rows.add(ending(role, tps, end, is_counted))


def together(stops: Iterable[tuple[Place, Stop]]) -> list[tuple[str | None, Tps, Stop]]:
    """Partitions of one role that stopped together."""
    of: dict[tuple[str | None, int], tuple[Stop, list[int]]] = {}
    for (tp, role), stop in stops:
        # Each stop of several partitions is one object, faster to compare than its fields.
        of.setdefault((role, id(stop)), (stop, []))[1].append(tp)
    return [(role, frozenset(tps), stop) for (role, _), (stop, tps) in of.items()]


def claim_stops(now: Modern, assignment_offset: int) -> None:
    """The new assignment takes over the partitions that members left behind."""
    unclaimed = [(place, stop) for place, stop in now.stops.items() if stop.assignment_offset is None]
    for role, tps, stop in together(unclaimed):
        set_stop(now, role, tps, stop._replace(assignment_offset=assignment_offset))


def set_stop(now: Modern, role: str | None, tps: Tps, stop: Stop) -> None:
    for tp in tps:
        now.stops[tp, role] = stop


def report_stops(group: Group, now: Modern, of: Rebalance, outcome: RebalanceOutcome) -> None:
    """At the end of a rebalance: reports partitions that it took away and assigned to no member. If a newer target came
    first, that one may still assign them."""
    for role, tps, stop in together(unreported(now, of)):
        add_revoked(group, now, of, group.context.rows, role, tps, stop, is_open=False)
        of.num_unowned += len(tps) if role in COUNTED_ROLES else 0
        if outcome == RebalanceOutcome.SUPERSEDED:
            set_stop(now, role, tps, stop._replace(is_reported=True))
        else:
            for tp in tps:
                del now.stops[tp, role]


def report_open_stops(group: Group, now: Modern, of: Rebalance, rows: RowsByTable) -> int:
    """Rows of partitions that are stopped now. Returns how many."""
    number = 0
    for role, tps, stop in together(unreported(now, of)):
        add_revoked(group, now, of, rows, role, tps, stop, is_open=True)
        number += len(tps) if role in COUNTED_ROLES else 0
    return number


def unreported(now: Modern, of: Rebalance) -> list[tuple[Place, Stop]]:
    return [
        (place, stop)
        for place, stop in now.stops.items()
        if stop.assignment_offset == of.assignment_offset and not stop.is_reported
    ]


def add_revoked(
    group: Group, now: Modern, of: Rebalance, rows: RowsByTable, role: str | None, tps: Tps, stop: Stop, *,
    is_open: bool,
) -> None:  # fmt: skip
    at = Moment(stop.offset, stop.time)
    revoked = row(
        group, now, of.assignment_offset, role, tps, MoveKind.REVOKED, stop.member_id, None, at, None, stop.offset,
        is_open=is_open,
    )  # fmt: skip
    rows.add(revoked)
    rows.add(ending(role, tps, stop.end, role in COUNTED_ROLES))


def row(
    group: Group, now: Modern, assignment_offset: int, role: str | None, tps: Tps, kind: MoveKind, before: str | None,
    after: str | None, at: Moment, idle_ms: int | None, first_offset: int, *, is_open: bool = False,
) -> Row:  # fmt: skip
    return PARTITION_MOVE(
        group_id=group.group_id, group_type=now.group_type, assignment_offset=assignment_offset, tp=tps,
        is_open=is_open, kind=kind, from_member_id=before, to_member_id=after, move_offset=at.offset,
        move_time=at.time, role=role, idle_ms=idle_ms, evidence_first_offset=first_offset,
        evidence_last_offset=at.offset,
    )  # fmt: skip


def ending(role: str | None, tps: Tps, end: ReadingEnd | None, is_counted: bool) -> Row:
    """The reading end for a row of a move. Standby and warmup tasks do not count."""
    known = end if end is not None and role in COUNTED_ROLES else UNKNOWN_END
    return READING_END(known, tp=tps, is_counted=is_counted)


def milliseconds(from_time: int | None, to_time: int | None) -> int | None:
    return None if from_time is None or to_time is None else (to_time - from_time) // 1000
