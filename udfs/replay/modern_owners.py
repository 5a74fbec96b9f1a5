"""Who owns what in consumer, share and streams groups: what records of types 8, 14 and 22 alone say."""

from collections.abc import Iterable, Iterator

from schemas.history_words import AnomalyKind, OwnershipEnd, OwnershipPhase, Severity, TaskRole
from udfs.replay.group import Group
from udfs.replay.ledger import OwnerStretch
from udfs.replay.modern_moves import gained, stopped
from udfs.replay.modern_state import AWAY, KEY_OF_OWNED, NOTHING, Member, Modern, Place, Placed
from udfs.replay.modern_values import ByRole, GroupType
from udfs.replay.records import Moment, Record
from udfs.replay.streams import partitions_of, subtopology_of
from udfs.replay.topic_codes import TopicCodes


def placed(now: Modern, member: Member, topics: TopicCodes) -> Placed:
    """What the member owns by its newest record, by phase and role."""
    found: Placed = {}
    phases: tuple[tuple[str, ByRole], ...]
    if member.epoch == AWAY:
        phases = ((OwnershipPhase.HELD, member.assigned),)
    else:
        phases = ((OwnershipPhase.ASSIGNED, member.assigned), (OwnershipPhase.REVOKING, member.pending))
    for phase, by_role in phases:
        for role, tps in expanded(now, by_role, topics).items():
            own = tps - found.get((OwnershipPhase.ASSIGNED, role), NOTHING) if phase == OwnershipPhase.REVOKING else tps
            if own:
                found[(phase, role)] = own
    return found


def expanded(now: Modern, by_role: ByRole, topics: TopicCodes) -> dict[str | None, frozenset[int]]:
    is_streams = now.group_type == GroupType.STREAMS
    return {role: partitions_of(share, now.topology, topics, is_streams) for role, share in by_role.items()}


def places(of: Placed) -> Iterator[tuple[Place, str]]:
    for (phase, role), tps in of.items():
        for tp in tps:
            yield (tp, role), phase


def owned_places(of: Placed, other_than: Placed) -> Iterator[tuple[Place, str]]:
    """Places of one that are not so in the other; equal sets cost nothing."""
    for key, tps in of.items():
        phase, role = key
        for tp in tps - other_than.get(key, NOTHING):
            yield (tp, role), phase


def settle_owners(
    group: Group, now: Modern, members: Iterable[tuple[str, bool]], inherited: frozenset[Place], at: Moment
) -> None:
    """Of members that records were about; what ends comes before what begins. `inherited`: places that static
    instances keep under other member ids: no move."""
    changed = []
    for member_id, is_exact in members:
        member = now.members[member_id]
        new = placed(now, member, group.context.topics)
        if new != member.shown:
            changed.append((member_id, member, is_exact, dict(owned_places(member.shown, new)), new))
    begun = []
    for member_id, member, is_exact, ended, new in changed:
        begins = dict(owned_places(new, member.shown))
        for place, _ in ended.items():
            end(group, now, member_id, place, place in begins, is_exact, at)
        member.shown = new
        begun.append((member_id, member, is_exact, ended, begins))
    for member_id, member, is_exact, ended, begins in begun:
        for place, phase in begins.items():
            is_move = place not in ended and place not in inherited
            begin(group, now, member_id, member, place, phase, is_move, is_exact, at)


def end(
    group: Group, now: Modern, member_id: str, place: Place, is_phase: bool, is_exact: bool, at: Moment
) -> None:  # fmt: skip
    tp, role = place
    why = OwnershipEnd.PHASE_CHANGED if is_phase else OwnershipEnd.REVOKED
    group.ledger.release(at, tp, member_id, why, role=role, is_exact=is_exact)
    if not is_phase:
        stopped(group, now, place, member_id, at, now.rebalance)


def begin(
    group: Group, now: Modern, member_id: str, member: Member, place: Place, phase: str, is_move: bool, is_exact: bool,
    at: Moment,
) -> None:  # fmt: skip
    tp, role = place
    if is_move and is_exclusive(now, role):
        part_from_others(group, now, member_id, place, at)
    group.ledger.own(
        OwnerStretch(
            at.time, at.offset, is_exact, at.offset, now.group_type, tp, member_id, member.epoch, phase, role,
            subtopology_of(tp, now.topology, group.context.topics),
        )
    )  # fmt: skip
    if is_move:
        gained(group, now, place, member_id, at)


def is_exclusive(now: Modern, role: str | None) -> bool:
    """Share groups' partitions and standby tasks may have several owners."""
    return now.group_type != GroupType.SHARE and role in (None, TaskRole.ACTIVE)


def part_from_others(group: Group, now: Modern, member_id: str, place: Place, at: Moment) -> None:
    """Where the record that took the partition from its owner may be missing, the new owner tells that it did; else
    both own it, which a coordinator never lets happen."""
    tp, role = place
    for other_id in [each for each in group.ledger.owners.get(place, ()) if each != member_id]:
        told = f"{group.context.topics.told(tp)} goes to {member_id} while {other_id} still has it"
        record = Record(at.offset, at.time, at.offset, 0, 0, None, None)
        other = now.members.get(other_id)
        last = group.seen.get(f"{KEY_OF_OWNED} {other_id}", -1)
        if group.context.gaps.is_complete(last, at.offset):
            group.anomaly(record, AnomalyKind.TWO_OWNERS, Severity.CRITICAL, told, first_offset=max(last, 0))
            continue
        group.anomaly(record, AnomalyKind.OLDER_RULE, Severity.INFO, f"{told}: coordinators before 4.2 refuse to load")
        group.ledger.release(at, tp, other_id, OwnershipEnd.REASSIGNED, role=role, is_exact=False)
        stopped(group, now, place, other_id, at, now.rebalance)
        if other is not None:
            other.shown = {key: tps - {tp} if key[1] == role else tps for key, tps in other.shown.items()}


def release_all(
    group: Group, now: Modern, member_id: str, member: Member, why: OwnershipEnd, is_exact: bool, at: Moment
) -> None:
    """Of a member that is gone. Who left, left its partitions to the next assignment."""
    for place, _ in places(member.shown):
        tp, role = place
        group.ledger.release(at, tp, member_id, why, role=role, is_exact=is_exact)
        if why != OwnershipEnd.STATIC_REPLACED:
            stopped(group, now, place, member_id, at, None)
