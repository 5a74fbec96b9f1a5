"""Who owns what in consumer, share and streams groups: only records of types 8, 14 and 22 say it. So they also show
which partitions moved or stopped under which target assignment, and how long these were unowned."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from schemas.words.history import (
    AnomalyKind,
    MoveKind,
    OwnershipEnd,
    OwnershipPhase,
    RebalanceOutcome,
    Severity,
    TaskRole,
)
from schemas.words.records import GroupType
from udfs.groups.history.intervals import OwnerStretch
from udfs.groups.history.reading_ends import (
    ANY_MS,
    NO_DELIVERY,
    UNKNOWN_END,
    ReadingEnd,
    delivery,
    given_up,
    unbounded,
)
from udfs.groups.history.row_makers import PARTITION_MOVE, READING_END
from udfs.groups.history.rows import RowsByTable
from udfs.groups.modern.streams_tasks import by_subtopology, expand_roles
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.group import Group
from udfs.groups.states.modern import (
    AWAY,
    KEY_OF_OWNED,
    NOTHING,
    Member,
    Modern,
    Place,
    Placed,
    Rebalance,
    Stop,
    Tps,
    TpsByRole,
)
from udfs.topics.partition_codes import SHIFT, TopicCodes

# Rebalances of streams groups count only active tasks: the other roles stop nothing.
COUNTED_ROLES = (None, TaskRole.ACTIVE)


def place_partitions(now: Modern, member: Member, topics: TopicCodes) -> Placed:
    """What the member owns according to its newest record, by phase and role."""
    placed: Placed = {}
    phases: tuple[tuple[str, ByRole], ...]
    if member.epoch == AWAY:
        phases = ((OwnershipPhase.HELD, member.assigned),)
    else:
        phases = ((OwnershipPhase.ASSIGNED, member.assigned), (OwnershipPhase.REVOKING, member.pending))
    for phase, by_role in phases:
        for role, tps in expand_roles(now, by_role, topics).items():
            own = (
                tps - placed.get((OwnershipPhase.ASSIGNED, role), NOTHING) if phase == OwnershipPhase.REVOKING else tps
            )
            if own:
                placed[(phase, role)] = own
    return placed


def without(of: Placed, other: Placed) -> Placed:
    """What is in one and not in the other."""
    return {key: some for key, tps in of.items() if (some := tps - other.get(key, NOTHING))}


def by_role(placed: Placed) -> TpsByRole:
    """In any phase."""
    tps_of: TpsByRole = {}
    for (_, role), tps in placed.items():
        tps_of[role] = tps_of.get(role, NOTHING) | tps
    return tps_of


class Inherited(NamedTuple):
    """What a static member that was away keeps under its new id, and when the old one stopped reading it."""

    old_id: str
    new_id: str
    role: str | None
    tps: Tps
    end: ReadingEnd


@dataclass(slots=True)
class Change:
    """What one member no longer owns, and what it owns from now on. A partition in both is in another phase."""

    member_id: str
    member: Member
    is_exact: bool
    ended: Placed
    begun: Placed


def settle_owners(
    group: Group, now: Modern, members: Iterable[tuple[str, bool]], inherited: Iterable[Inherited], at: Moment
) -> None:
    """Updates the owners for members with records. Ended ownership comes before new ownership. `inherited`: what static
    members keep under other member ids."""
    changes = []
    for member_id, is_exact in members:
        member = now.members[member_id]
        new = place_partitions(now, member, group.context.topics)
        if new != member.shown:
            ended, begun = without(member.shown, new), without(new, member.shown)
            changes.append(Change(member_id, member, is_exact, ended, begun))
            member.shown = new
    for change in changes:
        end(group, now, change, at)
    kept: TpsByRole = {}
    for each in inherited:
        kept[each.role] = kept.get(each.role, NOTHING) | each.tps
    for change in changes:
        begin(group, now, change, kept, at)
    for each in inherited:
        come_back(group, now, each, at)


def end(group: Group, now: Modern, of: Change, at: Moment) -> None:
    begun = by_role(of.begun)
    for (_, role), tps in of.ended.items():
        kept = tps & begun.get(role, NOTHING)
        release(group, now, of.member_id, role, kept, OwnershipEnd.PHASE_CHANGED, of.is_exact, at)
        give_up(group, now, of.member_id, role, tps - kept, OwnershipEnd.REVOKED, of.is_exact, at)


def give_up(
    group: Group, now: Modern, member_id: str, role: str | None, tps: Tps, why: OwnershipEnd, is_exact: bool, at: Moment
) -> None:
    begun_at = group.ledger.by_beginning(tps, member_id, role)
    of = group.timeouts_of(now.group_type, now.members.get(member_id))
    release(group, now, member_id, role, tps, why, is_exact, at, of.rebalance_ms if is_exact else ANY_MS)
    for begin, some in begun_at.items():
        until = given_up(at.time, of, begin) if is_exact else unbounded(at.time, is_told=begin.is_told)
        stop_reading(now, role, some, member_id, at, now.rebalance, until)


def begin(group: Group, now: Modern, of: Change, inherited: TpsByRole, at: Moment) -> None:
    ended = by_role(of.ended)
    for (phase, role), tps in of.begun.items():
        moved = tps - ended.get(role, NOTHING) - inherited.get(role, NOTHING)
        if is_exclusive(now, role):
            part_from_others(group, now, of.member_id, role, moved, at)
        for subtopology, some in by_subtopology(tps, now.topology, group.context.topics).items():
            group.ledger.own(
                OwnerStretch(
                    from_time=at.time,
                    from_record_offset=at.offset,
                    is_from_exact=of.is_exact,
                    last_offset=at.offset,
                    group_type=now.group_type,
                    tp=some,
                    member_id=of.member_id,
                    generation_or_epoch=of.member.epoch,
                    phase=phase,
                    role=role,
                    subtopology_id=subtopology,
                )
            )
        now.holders.add(role, tps, of.member_id)
        gain(group, now, role, moved, of.member_id, at)


def release(
    group: Group, now: Modern, member_id: str, role: str | None, tps: Tps, why: OwnershipEnd, is_exact: bool,
    at: Moment, longest_ms: int = 0,
) -> None:  # fmt: skip
    group.ledger.release(at, tps, member_id, why, role=role, is_exact=is_exact, longest_ms=longest_ms)
    now.holders.remove(role, tps, member_id)


def is_exclusive(now: Modern, role: str | None) -> bool:
    """Partitions of share groups and standby tasks may have several owners."""
    return now.group_type != GroupType.SHARE and role in (None, TaskRole.ACTIVE)


def part_from_others(group: Group, now: Modern, member_id: str, role: str | None, tps: Tps, at: Moment) -> None:
    """Ends the ownership of others. If the record that took the partition from its owner may be missing, the new
    owner's record proves that it existed. Otherwise both own it, which no coordinator allows."""
    for tp in tps - now.holders.unheld(role, tps):
        for other_id in now.holders.others(role, tp, member_id):
            part_from(group, now, other_id, member_id, role, tp, at)


def part_from(group: Group, now: Modern, other_id: str, member_id: str, role: str | None, tp: int, at: Moment) -> None:
    line = f"{group.context.topics.partition_text(tp)} is assigned to {member_id} while {other_id} still has it"
    record = Record(offset=at.offset, time=at.time, batch=at.offset, leader_epoch=0, type=0, member=None, value=None)
    other, tps = now.members.get(other_id), frozenset({tp})
    last = group.seen.get(f"{KEY_OF_OWNED} {other_id}", -1)
    if group.context.gaps.is_complete(last, at.offset):
        group.anomaly(record, AnomalyKind.TWO_OWNERS, Severity.CRITICAL, line, first_offset=max(last, 0))
        return
    group.anomaly(record, AnomalyKind.OLDER_RULE, Severity.INFO, f"{line}: coordinators before 4.2 refuse to load")
    give_up(group, now, other_id, role, tps, OwnershipEnd.REASSIGNED, False, at)
    if other is not None:
        other.shown = {key: some - tps if key[1] == role else some for key, some in other.shown.items()}


# -- stops and moves


def stop_reading(
    now: Modern, role: str | None, tps: Tps, member_id: str, at: Moment, by: Rebalance | None, end: ReadingEnd
) -> None:
    """The member lost the partitions, which are now unread unless other members own them too. In share groups the log
    does not show who reads, as long as there is a member."""
    if now.group_type == GroupType.SHARE and now.members:
        end = UNKNOWN_END
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
    taken = [((tp, role), take_stop(group, now, role, tp)) for tp in tps] if now.stops else []
    if now.assignment_offset is None:
        return
    of, rows = now.assignment_offset, group.context.rows
    counting = now.rebalance if role in COUNTED_ROLES else None
    fresh = tps if not taken else frozenset(tp for (tp, _), stop in taken if stop is None)
    new = group.context.new_partitions(fresh, at.time, partial(had_since, group, now, role))
    for some, end in [(fresh - NOTHING.union(*(each for each, _ in new)), UNKNOWN_END), *new]:
        if some:
            add_move(group, now, rows, of, role, some, MoveKind.ASSIGNED, None, member_id, at, None, end,
                     is_counted=counting is not None)  # fmt: skip
    for _, some, stop in together((place, stop) for place, stop in taken if stop is not None):
        kind = MoveKind.RETURNED if stop.member_id == member_id else MoveKind.MOVED
        idle = milliseconds(stop.time, at.time)
        # The assignment that left it without an owner was completed: another one gives it to somebody.
        add_move(group, now, rows, of, role, some, MoveKind.ASSIGNED if stop.is_over else kind,
                 None if stop.is_over else stop, member_id, at, idle, stop.end,
                 is_counted=counting is not None)  # fmt: skip
        if counting is not None:
            counting.num_moved += len(some) if kind == MoveKind.MOVED and not stop.is_over else 0
            counting.num_returned += len(some) if kind == MoveKind.RETURNED and not stop.is_over else 0
            counting.stopped_ms += (idle or 0) * len(some)


def had_since(group: Group, now: Modern, role: str | None, tp: int) -> int | None:
    held = now.holders.by_role.get(role, {})
    # Not all numbers below: a log may name partition 2,147,483,647.
    lower = {each for each in held if each >> SHIFT == tp >> SHIFT and each < tp}
    owners = {member_id for each in lower for member_id in held[each]}
    times = [
        of.from_time
        for member_id in owners
        for of in group.ledger.owners.get(member_id, ())
        if of.role == role and of.from_time is not None and not lower.isdisjoint(of.tp)
    ]
    return min(times, default=None)


def take_stop(group: Group, now: Modern, role: str | None, tp: int) -> Stop | None:
    """One from before a conversion knows its topic only by name."""
    stop = now.stops.pop((tp, role), None)
    return stop or now.stops.pop((group.context.topics.by_name(tp), role), None)


def come_back(group: Group, now: Modern, of: Inherited, at: Moment) -> None:
    """A static member that was away has its partitions again, under another id and without a rebalance."""
    if tps := now.holders.held(of.role, of.tps, of.new_id):
        stop = Stop(of.old_id, at.time, at.offset, at.offset, end=of.end)
        add_move(group, now, group.context.rows, at.offset, of.role, tps, MoveKind.RETURNED, stop, of.new_id, at, None,
                 of.end, is_counted=False)  # fmt: skip


def add_move(
    group: Group, now: Modern, into: RowsByTable, assignment_offset: int, role: str | None, tps: Tps, kind: MoveKind,
    stop: Stop | None, to_id: str | None, at: Moment, idle_ms: int | None, end: ReadingEnd, *, is_counted: bool,
    is_provisional: bool = False,
) -> None:  # fmt: skip
    """`stop`: of the member that had them. `end`: when it stopped reading them. Standby and warmup tasks have none."""
    into.add(PARTITION_MOVE(
        group_id=group.group_id, group_type=now.group_type, assignment_offset=assignment_offset, tp=tps,
        is_provisional=is_provisional, kind=kind, from_member_id=None if stop is None else stop.member_id,
        to_member_id=to_id, move_offset=at.offset, move_time=at.time, role=role, idle_ms=idle_ms,
        evidence_first_offset=at.offset if stop is None else stop.offset, evidence_last_offset=at.offset,
    ))  # fmt: skip
    known, delivered = UNKNOWN_END, NO_DELIVERY
    if to_id is not None and role in COUNTED_ROLES:
        of = group.timeouts_of(now.group_type, now.members.get(to_id))
        known, delivered = end, delivery(of.heartbeat_ms, of.heartbeat_source)
    into.add(READING_END(
        known, tp=tps, is_counted=is_counted and not known.is_grown, delivery_ms=delivered.delivery_ms,
        delivery_basis=delivered.delivery_basis,
    ))  # fmt: skip


def together(stops: Iterable[tuple[Place, Stop]]) -> list[tuple[str | None, Tps, Stop]]:
    """Partitions of one role that stopped together."""
    of: dict[tuple[str | None, int], tuple[Stop, list[int]]] = {}
    for (tp, role), stop in stops:
        # Each stop of several partitions is one object, faster to compare than its fields.
        of.setdefault((role, id(stop)), (stop, []))[1].append(tp)
    return [(role, frozenset(tps), stop) for (role, _), (stop, tps) in of.items()]


def claim_stops(now: Modern, assignment_offset: int) -> None:
    """Stops that belong to no assignment yet belong to the new one."""
    unclaimed = [(place, stop) for place, stop in now.stops.items() if stop.assignment_offset is None]
    for role, tps, stop in together(unclaimed):
        set_stop(now, role, tps, stop._replace(assignment_offset=assignment_offset))


def set_stop(now: Modern, role: str | None, tps: Tps, stop: Stop) -> None:
    for tp in tps:
        now.stops[tp, role] = stop


def report_stops(group: Group, now: Modern, of: Rebalance, outcome: RebalanceOutcome) -> None:
    """At the end of a rebalance: reports partitions that it took away and assigned to no member. If a newer target came
    first, that one may still assign them."""
    stopped = unreported(now, of)
    of.num_unowned += add_revoked(group, now, of, stopped, group.context.rows, is_provisional=False)
    is_over = outcome != RebalanceOutcome.SUPERSEDED
    for role, tps, stop in stopped:
        set_stop(now, role, tps, stop._replace(is_reported=True, is_over=is_over))


def unreported(now: Modern, of: Rebalance) -> list[tuple[str | None, Tps, Stop]]:
    stops = now.stops.items()
    return together(
        each for each in stops if each[1].assignment_offset == of.assignment_offset and not each[1].is_reported
    )


def add_revoked(
    group: Group, now: Modern, of: Rebalance, stopped: Iterable[tuple[str | None, Tps, Stop]], into: RowsByTable, *,
    is_provisional: bool,
) -> int:  # fmt: skip
    """Rows of partitions that are stopped. Returns how many count."""
    number = 0
    for role, tps, stop in stopped:
        at, is_counted = Moment(stop.offset, stop.time), role in COUNTED_ROLES
        add_move(group, now, into, of.assignment_offset, role, tps, MoveKind.REVOKED, stop, None, at, None, UNKNOWN_END,
                 is_counted=is_counted, is_provisional=is_provisional)  # fmt: skip
        number += len(tps) if is_counted else 0
    return number


def milliseconds(from_time: int | None, to_time: int | None) -> int | None:
    return None if from_time is None or to_time is None else (to_time - from_time) // 1000
