"""Which partitions changed owners or stopped under which target assignment, and how long they were unowned."""

from schemas.tables.history import PARTITION_MOVES
from schemas.tables.state.replayed_log import READING_ENDS
from schemas.words.history import Confidence, MoveKind, RebalanceOutcome, TaskRole
from udfs.groups.history.reading_ends import NOT_TOLD, ReadingEnd, known_end
from udfs.groups.history.rows import Row, RowsByTable, row_fields
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import Modern, Place, Rebalance, Stop

# Rebalances of streams groups count only active tasks: the other roles stop nothing.
COUNTED_ROLES = (None, TaskRole.ACTIVE)


def stop_reading(
    group: Group, now: Modern, place: Place, member_id: str, at: Moment, by: Rebalance | None, end: ReadingEnd | None
) -> None:
    """The member lost the partition, which is now unread unless other members own it too."""
    if place not in group.ledger.owners:
        assignment_offset = None if by is None else by.assignment_offset
        now.stops[place] = Stop(
            member_id=member_id,
            time=at.time,
            offset=at.offset,
            assignment_offset=assignment_offset,
            is_reported=False,
            end=end,
        )


def gain(group: Group, now: Modern, place: Place, member_id: str, at: Moment) -> None:
    stop = now.stops.pop(place, None)
    if now.assignment_offset is None:
        return
    if stop is None:
        kind, before, idle, first, end = MoveKind.ASSIGNED, None, None, at.offset, None
    else:
        kind = MoveKind.RETURNED if stop.member_id == member_id else MoveKind.MOVED
        before, idle, first = stop.member_id, milliseconds(stop.time, at.time), stop.offset
        # The time before the stop was counted where the stop was reported.
        end = known_end(stop.time) if stop.is_reported else stop.end
    group.context.rows.add(row(group, now, now.assignment_offset, place, kind, before, member_id, at, idle, first))
    is_counted = now.rebalance is not None and place[1] in COUNTED_ROLES
    group.context.rows.add(ending(place, end, is_counted))
    if now.rebalance is not None and is_counted:
        now.rebalance.num_moved += kind == MoveKind.MOVED
        now.rebalance.num_returned += kind == MoveKind.RETURNED
        now.rebalance.stopped_ms += idle or 0


def claim_stops(now: Modern, assignment_offset: int) -> None:
    """The new assignment takes over the partitions that members left behind."""
    for place, stop in now.stops.items():
        if stop.assignment_offset is None:
            now.stops[place] = stop._replace(assignment_offset=assignment_offset)


def report_stops(group: Group, now: Modern, of: Rebalance, outcome: RebalanceOutcome) -> None:
    """At the end of a rebalance: reports partitions that it took away and assigned to no member. If a newer target came
    first, that one may still assign them."""
    for place, stop in list(now.stops.items()):
        if stop.assignment_offset != of.assignment_offset or stop.is_reported:
            continue
        group.context.rows.add(revoked_row(group, now, of.assignment_offset, place, stop, False))
        group.context.rows.add(ending(place, stop.end, place[1] in COUNTED_ROLES))
        of.num_unowned += place[1] in COUNTED_ROLES
        if outcome == RebalanceOutcome.SUPERSEDED:
            now.stops[place] = stop._replace(is_reported=True)
        else:
            del now.stops[place]


def report_open_stops(group: Group, now: Modern, of: Rebalance, rows: RowsByTable) -> int:
    """Rows of partitions that are stopped now. Returns how many."""
    stops = [
        (place, stop)
        for place, stop in now.stops.items()
        if stop.assignment_offset == of.assignment_offset and not stop.is_reported
    ]
    for place, stop in stops:
        rows.add(revoked_row(group, now, of.assignment_offset, place, stop, True))
        rows.add(ending(place, stop.end, place[1] in COUNTED_ROLES))
    return sum(role in COUNTED_ROLES for (_, role), _ in stops)


def revoked_row(group: Group, now: Modern, assignment_offset: int, place: Place, stop: Stop, is_open: bool) -> Row:
    at = Moment(stop.offset, stop.time)
    return row(
        group, now, assignment_offset, place, MoveKind.REVOKED, stop.member_id, None, at, None, stop.offset,
        is_open=is_open,
    )  # fmt: skip


MOVE = row_fields(
    PARTITION_MOVES,
    "group_id", "group_type", "assignment_offset", "tp", "is_open", "kind", "from_member_id", "to_member_id",
    "move_offset", "move_time", "role", "idle_ms", "commit_gap_ms", "unread_low_ms", "unread_high_ms",
    "unread_basis", "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def row(
    group: Group, now: Modern, assignment_offset: int, place: Place, kind: MoveKind, before: str | None,
    after: str | None, at: Moment, idle_ms: int | None, first_offset: int, *, is_open: bool = False,
) -> Row:  # fmt: skip
    tp, role = place
    # The gap between commits and the unread time are added when commits are linked.
    return (
        MOVE,
        group.group_id, now.group_type, assignment_offset, tp, is_open, kind, before, after,
        at.offset, at.time, role, idle_ms, None, None, None,
        None, first_offset, at.offset, Confidence.CERTAIN,
    )  # fmt: skip


ENDING = row_fields(READING_ENDS, "tp", *ReadingEnd._fields, "is_counted")


def ending(place: Place, end: ReadingEnd | None, is_counted: bool) -> Row:
    """The reading end for a row of a move. Standby and warmup tasks do not count."""
    tp, role = place
    return (ENDING, tp, *(end if end is not None and role in COUNTED_ROLES else NOT_TOLD), is_counted)


def milliseconds(from_time: int | None, to_time: int | None) -> int | None:
    return None if from_time is None or to_time is None else (to_time - from_time) // 1000
