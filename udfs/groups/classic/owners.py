"""Who owns what after a rebalance of a classic group. The log records what members claimed when they joined and what
they were assigned. An ownership interval continues if its member claimed the partition and was assigned it again. A
member that did not claim a partition had given it up before, at the end of the join phase at the latest. A member that
claimed a partition and was not assigned it gives it up after the rebalance."""

from collections.abc import Iterable

from schemas.words.history import MoveKind, OwnershipEnd, OwnershipPhase
from udfs.groups.classic.reading_stops import restarted, stopped
from udfs.groups.classic.rebalance_rows import Handover, add_moves, write_moves
from udfs.groups.classic.rounds import Round, milliseconds
from udfs.groups.classic.value_checks import names_of, two_owners
from udfs.groups.history.intervals import OwnerStretch
from udfs.groups.history.reading_ends import ANY_MS, UNKNOWN_END, ReadingEnd, known_end
from udfs.groups.readers.classic_records import NOTHING, ClassicMember, Tps
from udfs.groups.states.classic import GROUP_TYPE, Classic
from udfs.groups.states.group import Group
from udfs.groups.states.kip429_sets import GroupSets, group_sets
from udfs.topics.partition_codes import SHIFT

ASSIGNED, REVOKING = OwnershipPhase.ASSIGNED, OwnershipPhase.REVOKING
MOVED, READY_TO_MIGRATE = MoveKind.MOVED, MoveKind.READY_TO_MIGRATE

# With more members than this, partitions are looked up one by one; with fewer, each pair of members is compared.
FEW = 4


def hand_over(round_: Round, lost: set[str], sets: GroupSets) -> Handover:
    handover = Handover(lost, sets)
    now = round_.now
    if round_.before is not None and round_.before.idle:
        now.idle = dict(round_.before.idle)
    for member_id, held, revoking in [] if round_.before is None else stays_of(round_.group, round_.before):
        new_id = round_.replaced.get(member_id, member_id)
        pass_on(round_, handover, member_id, round_.members_now.get(new_id), held, revoking)
    if sets.claimed:
        claim_without_stay(round_, handover)
    for member in now.value.members:
        if member.member_id in handover.restored and member.assigned:
            own(round_, member.assigned, member.member_id, round_.is_exact)
            forget(now.idle, member.assigned)
            continue
        kept = handover.kept.get(member.member_id, NOTHING)
        if member.assigned and member.assigned is not kept:
            give(round_, handover, member, member.assigned - kept if kept else member.assigned)
    return handover


def stays_of(group: Group, before: Classic) -> list[tuple[str, Tps, Tps]]:
    """By member: what it owns, and what it still owns but was asked to give up."""
    if not before.is_copied:
        # After a rebalance every member has what it was assigned.
        return [(each.member_id, each.assigned or NOTHING, before.revoking.get(each.member_id, NOTHING))
                for each in before.value.members]  # fmt: skip
    owners = group.ledger.owners.items()
    return [(member_id, in_phase(of, ASSIGNED), in_phase(of, REVOKING)) for member_id, of in owners]


def in_phase(stretches: list[OwnerStretch], phase: OwnershipPhase) -> Tps:
    return NOTHING.union(*[of.tp for of in stretches if of.phase == phase])


def pass_on(
    round_: Round, handover: Handover, old_id: str, member: ClassicMember | None, held: Tps, revoking: Tps
) -> None:
    """`member`: the old owner in the new value; None if it left."""
    if member is None or not member.claimed:
        if member is not None and is_given_back(round_, handover, old_id, member, held, revoking):
            restore(round_, handover, member, held)
            return
        end_stays(round_, handover, old_id, member, held, MOVED)
        end_stays(round_, handover, old_id, member, revoking, READY_TO_MIGRATE)
        return
    claimed, assigned, is_same = member.claimed, member.assigned or NOTHING, member.member_id == old_id
    if is_same and not revoking and held == claimed and claimed == assigned:
        handover.kept[old_id] = assigned
        return
    end_stays(round_, handover, old_id, member, held - claimed, MOVED)
    end_stays(round_, handover, old_id, member, revoking - claimed, READY_TO_MIGRATE)
    ours = (held | revoking) & claimed
    handover.kept[member.member_id] = ours & assigned
    if not is_same:
        go_on(round_, old_id, member.member_id, held & ours & assigned, ASSIGNED)
    go_on(round_, old_id, member.member_id, revoking & ours & assigned, ASSIGNED)
    withhold(round_, handover, old_id, member.member_id, ours - assigned, revoking if is_same else NOTHING)


def is_given_back(
    round_: Round, handover: Handover, old_id: str, member: ClassicMember, held: Tps, revoking: Tps
) -> bool:
    """The most frequent case, with assignors whose members give up everything before they join. Found without comparing
    the sets."""
    return (
        held is member.assigned and bool(held) and not revoking and handover.sets.is_disjoint
        and member.member_id == old_id
    )  # fmt: skip


def restore(round_: Round, handover: Handover, member: ClassicMember, tps: Tps) -> None:
    """The same result as `end_stays` and `give`, if both are about the same partitions."""
    member_id = member.member_id
    kind = MoveKind.LOST if member_id in handover.lost else MoveKind.RETURNED
    ends, longest = stopped(round_, member_id, member, tps)
    add_moves(round_, handover, tps, kind, member_id, member_id, milliseconds(round_.stop, round_.at.time), ends)
    handover.num_returned += len(tps)
    handover.restored.add(member_id)
    round_.group.ledger.release(
        round_.at, tps, member_id, OwnershipEnd.REVOKED, round_.stop, is_exact=False, longest_ms=longest
    )


def end_stays(
    round_: Round, handover: Handover, old_id: str, member: ClassicMember | None, tps: Tps, kind: MoveKind
) -> None:
    """Ends ownership of partitions that a member gave up before it joined, or had when it left. `kind`: the kind of
    move if another member gets them."""
    if not tps:
        return
    new_id = None if member is None else member.member_id
    is_lost = kind is MOVED and new_id in handover.lost
    at, stop, ledger = round_.at, round_.stop, round_.group.ledger
    idle_ms = milliseconds(stop, at.time)
    ends, longest = stopped(round_, old_id, member, tps)
    nobody = tps - handover.sets.assigned
    for receiver, some in shares(round_, handover, tps - nobody if nobody else tps, member):
        is_back = receiver.member_id == new_id
        kind_of_move = MoveKind.LOST if is_lost else MoveKind.RETURNED if is_back else kind
        add_moves(round_, handover, some, kind_of_move, old_id, receiver.member_id, idle_ms, ends)
        handover.passed_on.update(some)
        handover.num_returned += len(some) if is_back else 0
        handover.num_moved += 0 if is_back else len(some)
        handover.num_handed_out += len(some) if kind is READY_TO_MIGRATE else 0
    if nobody:
        add_moves(round_, handover, nobody, MoveKind.LOST if is_lost else MoveKind.REVOKED, old_id, None, None)
        round_.now.idle.update((tp, end) for of, end in ends for tp in nobody & of)
    if new_id != old_id:
        why = OwnershipEnd.MEMBER_LEFT if new_id is None else OwnershipEnd.STATIC_REPLACED
        ledger.release(at, tps, old_id, why, stop, is_exact=False, longest_ms=longest)
        return
    mine = nobody | (tps & member.assigned if member is not None and member.assigned else NOTHING)
    ledger.release(at, mine, old_id, OwnershipEnd.REVOKED, stop, is_exact=False, longest_ms=longest)
    ledger.release(at, tps - mine, old_id, OwnershipEnd.REASSIGNED, stop, is_exact=False, longest_ms=longest)


def shares(
    round_: Round, handover: Handover, tps: Tps, first: ClassicMember | None
) -> Iterable[tuple[ClassicMember, Tps]]:
    """Which member is assigned which of these. `first`: the most likely one."""
    if first is not None and handover.sets.is_disjoint and first.assigned and tps <= first.assigned:
        return ((first, tps),) if tps else ()
    members = round_.now.value.members
    if len(members) <= FEW:
        return [(each, some) for each in members if each.assigned and (some := tps & each.assigned)]
    if not handover.assignees:
        for each in members:
            for tp in each.assigned or ():
                handover.assignees.setdefault(tp, []).append(each)
    by_member: dict[str, tuple[ClassicMember, set[int]]] = {}
    for tp in tps:
        for each in handover.assignees[tp]:
            by_member.setdefault(each.member_id, (each, set()))[1].add(tp)
    return [(each, frozenset(some)) for each, some in by_member.values()]


def go_on(round_: Round, old_id: str, new_id: str, tps: Tps, phase: OwnershipPhase) -> None:
    """Continues ownership without a stop, under another member id or in another phase."""
    if tps:
        why = OwnershipEnd.PHASE_CHANGED if old_id == new_id else OwnershipEnd.STATIC_REPLACED
        round_.group.ledger.release(round_.at, tps, old_id, why)
        round_.group.ledger.own(ownership(round_, tps, new_id, phase, True))


def withhold(round_: Round, handover: Handover, old_id: str, new_id: str, tps: Tps, revoking: Tps) -> None:
    """The member learns with the assignment that it has to give these up. `revoking`: those it already knew of."""
    if not tps:
        return
    go_on(round_, old_id, new_id, tps - revoking, REVOKING)
    round_.now.revoking[new_id] = tps
    add_withheld(round_, handover, tps - handover.sets.assigned, old_id)
    for receiver, some in shares(round_, handover, tps & handover.sets.assigned, None):
        add_moves(round_, handover, some, MOVED, old_id, receiver.member_id, 0, [(some, known_end(round_.at.time))])
        handover.passed_on.update(some)
        handover.num_moved += len(some)
        two_owners(round_, f"{names_of(round_, some)} was assigned to {receiver.member_id} while {new_id} still had it")


def add_withheld(round_: Round, handover: Handover, tps: Tps, member_id: str) -> None:
    add_moves(round_, handover, tps - handover.sets.unknown_owned, MoveKind.WITHHELD, member_id, None, None)
    add_moves(round_, handover, tps & handover.sets.unknown_owned, MoveKind.UNKNOWN_OWNED, member_id, None, None)


def claim_without_stay(round_: Round, handover: Handover) -> None:
    """If records are missing, a member may claim a partition without a known owner."""
    missing = handover.sets.withheld | handover.sets.unknown_owned
    if not missing:
        return
    ledger, now = round_.group.ledger, round_.now
    missing = missing.difference(*[of.tp for of in ledger.stretches()])
    for member in now.value.members if missing else ():
        tps = (member.claimed or NOTHING) & missing
        if not tps:
            continue
        ledger.own(ownership(round_, tps, member.member_id, REVOKING, False))
        forget(now.idle, tps)
        now.revoking[member.member_id] = now.revoking.get(member.member_id, NOTHING) | tps
        add_withheld(round_, handover, tps, member.member_id)
        missing -= tps


def give(round_: Round, handover: Handover, member: ClassicMember, tps: Tps) -> None:
    """Starts ownership of partitions that the member did not have before."""
    claimed, member_id, idle = member.claimed or NOTHING, member.member_id, round_.now.idle
    # It may have owned for long what it claims, if no interval of it is known.
    sure, unsure = (tps - claimed, tps & claimed) if claimed else (tps, NOTHING)
    for some, is_exact in ((sure, round_.is_exact), (unsure, False)):
        if some:
            own(round_, some, member_id, is_exact)
    fresh = sure - handover.passed_on
    rested = {tp: idle[tp] for tp in fresh if tp in idle} if idle else {}
    for end in set(rested.values()):
        some = frozenset(tp for tp, of in rested.items() if of == end)
        idle_ms = milliseconds(end.stopped_time, round_.at.time)
        add_moves(round_, handover, some, MoveKind.ASSIGNED, None, member_id, idle_ms, [(some, end)])
    never = fresh.difference(rested)

    def had_since(tp: int) -> int | None:
        is_known = any(each >> SHIFT == tp >> SHIFT for each in round_.had)
        return round_.before.time if round_.before is not None and is_known else None

    ends = round_.group.context.new_partitions(never, round_.at.time, had_since)
    rest = never.difference(*(some for some, _ in ends))
    add_moves(round_, handover, never, MoveKind.ASSIGNED, None, member_id, None, [*ends, (rest, UNKNOWN_END)])
    forget(idle, tps)


def forget(idle: dict[int, ReadingEnd], tps: Tps) -> None:
    for tp in tps if idle else ():
        idle.pop(tp, None)


def own(round_: Round, tps: Tps, member_id: str, is_exact: bool) -> None:
    round_.group.ledger.own(ownership(round_, tps, member_id, ASSIGNED, is_exact))


def ownership(round_: Round, tps: Tps, member_id: str, phase: OwnershipPhase, is_exact: bool) -> OwnerStretch:
    offset, time = round_.at
    generation = round_.now.value.generation
    return OwnerStretch(
        from_time=time,
        from_record_offset=offset,
        is_from_exact=is_exact,
        last_offset=offset,
        group_type=GROUP_TYPE,
        tp=tps,
        member_id=member_id,
        generation_or_epoch=generation,
        phase=phase,
    )


def swap(round_: Round) -> None:
    """Static members came back under other ids, without a rebalance: the new id gets what the old id was assigned. Its
    process was not there for a while, so nobody read."""
    assert round_.before is not None
    ledger, at = round_.group.ledger, round_.at
    moved = Handover(set(), group_sets((), NOTHING, round_.group.context.topics))
    for old_id, held, revoking in stays_of(round_.group, round_.before):
        new_id = round_.replaced.get(old_id)
        if new_id is None:
            if revoking:
                round_.now.revoking[old_id] = revoking
            continue
        add_moves(round_, moved, held, MoveKind.RETURNED, old_id, new_id, None, restarted(round_, old_id, held))
        # What it was asked to give up ended with its process.
        round_.now.idle.update((tp, end) for of, end in restarted(round_, old_id, revoking) for tp in of)
        longest = round_.members_before[old_id].session_timeout_ms if round_.is_exact else ANY_MS
        ledger.release(
            at, held | revoking, old_id, OwnershipEnd.STATIC_REPLACED, is_exact=round_.is_exact, longest_ms=longest
        )
        if held:
            ledger.own(ownership(round_, held, new_id, ASSIGNED, round_.is_exact))
    write_moves(round_, moved)
