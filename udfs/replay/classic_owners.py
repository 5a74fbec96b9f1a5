"""Who owns what after a round of a classic group. The log tells what members claimed as they joined and what they
got: a stay goes on if its member claimed the partition and got it again. What it did not claim it had given up before,
at the end of the join phase at the latest; what it claimed and did not get it gives up after the round."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from schemas.history_words import AnomalyKind, Confidence, MoveKind, OwnershipEnd, OwnershipPhase, Severity
from udfs.replay.classic_records import NOTHING, ClassicMember, Tps
from udfs.replay.classic_round import GROUP_TYPE, Classic, Round, milliseconds
from udfs.replay.group import Group
from udfs.replay.kip429 import GroupSets
from udfs.replay.ledger import OwnerStretch

ASSIGNED, REVOKING = OwnershipPhase.ASSIGNED, OwnershipPhase.REVOKING
MOVED, READY_TO_MIGRATE = MoveKind.MOVED, MoveKind.READY_TO_MIGRATE
CERTAIN = Confidence.CERTAIN


@dataclass(slots=True)
class Handover:
    """What a round did to owners, and the rows of `partition_moves` that tell of it."""

    lost: dict[str, Tps]
    unknown_owned: Tps
    # By partition, who gets it.
    given: dict[int, str] = field(default_factory=dict)
    # By member, what it keeps of what it is given.
    kept: dict[str, Tps] = field(default_factory=dict)
    # Given to another member, or to the same one after a stop: what the stays before it tell is told.
    passed_on: set[int] = field(default_factory=set)
    # Withheld by the round before, and given now.
    num_handed_out: int = 0
    num_moved: int = 0
    num_returned: int = 0
    stopped_ms: int = 0
    moves: list[tuple[Any, ...]] = field(default_factory=list)


def hand_over(round_: Round, lost: dict[str, Tps], sets: GroupSets) -> Handover:
    """`lost`: by member, what it had before and came back without."""
    done = Handover(lost, sets.unknown_owned)
    now = round_.now
    now.idle = dict(round_.before.idle) if round_.before is not None and round_.before.idle else {}
    before = [] if round_.before is None else stays_of(round_.group, round_.before)
    for member in now.value.members:
        if member.assigned:
            done.given.update(dict.fromkeys(member.assigned, member.member_id))
    for member_id, held, revoking in before:
        new_id = round_.replaced.get(member_id, member_id)
        pass_on(round_, done, member_id, round_.members_now.get(new_id), held, revoking)
    claim_without_stay(round_, done, sets)
    for member in now.value.members:
        kept = done.kept.get(member.member_id, NOTHING)
        if member.assigned and member.assigned != kept:
            give(round_, done, member, member.assigned - kept)
    return done


def stays_of(group: Group, before: Classic) -> list[tuple[str, Tps, Tps]]:
    """By member, what it owns and what of that it was asked to give up."""
    if not before.is_copied:
        # After a round everybody has what they were given.
        return [(each.member_id, each.assigned or NOTHING, before.revoking.get(each.member_id, NOTHING))
                for each in before.value.members]  # fmt: skip
    found: dict[str, tuple[set[int], set[int]]] = {}
    for (tp, _), of_members in group.ledger.owners.items():
        for member_id, of in of_members.items():
            found.setdefault(member_id, (set(), set()))[of.phase == REVOKING].add(tp)
    return [(member_id, frozenset(held), frozenset(revoking)) for member_id, (held, revoking) in found.items()]


def pass_on(round_: Round, done: Handover, old_id: str, member: ClassicMember | None, held: Tps, revoking: Tps) -> None:
    """`member`: as which the old owner goes on."""
    claimed = NOTHING if member is None else member.claimed or NOTHING
    assigned = NOTHING if member is None else member.assigned or NOTHING
    is_same = member is not None and member.member_id == old_id
    if member is not None and is_same and not revoking and held == claimed and claimed == assigned:
        done.kept[old_id] = held
        return
    end_stays(round_, done, old_id, member, held - claimed, MOVED)
    end_stays(round_, done, old_id, member, revoking - claimed, READY_TO_MIGRATE)
    if member is None or not claimed:
        return
    ours = (held | revoking) & claimed
    done.kept[member.member_id] = ours & assigned
    go_on(round_, old_id, member.member_id, (held if not is_same else NOTHING) & ours & assigned, ASSIGNED)
    go_on(round_, old_id, member.member_id, revoking & ours & assigned, ASSIGNED)
    withhold(round_, done, old_id, member.member_id, ours - assigned, revoking if is_same else NOTHING)


def end_stays(
    round_: Round, done: Handover, old_id: str, member: ClassicMember | None, tps: Tps, kind: MoveKind
) -> None:
    """Given up before the member joined, or left behind by a member that went. `kind`: where another one gets it."""
    if not tps:
        return
    new_id = None if member is None else member.member_id
    is_lost = kind is MOVED and new_id in done.lost
    nobody: list[int] = []
    back: list[int] = []
    others: list[int] = []
    for tp in tps:
        receiver = done.given.get(tp)
        (nobody if receiver is None else back if receiver == new_id else others).append(tp)
    idle_ms = milliseconds(round_.stop, round_.at.time)
    for some, told, why, idle in (
        (nobody, MoveKind.REVOKED, OwnershipEnd.REVOKED, None),
        (back, MoveKind.RETURNED, OwnershipEnd.REVOKED, idle_ms),
        (others, kind, OwnershipEnd.REASSIGNED, idle_ms),
    ):
        if some:
            ended_by = why_ended(old_id, new_id, why)
            round_.group.ledger.release_all(round_.at, some, old_id, ended_by, round_.stop, is_exact=False)
            tell(round_, done, some, MoveKind.LOST if is_lost else told, old_id, idle)
    round_.now.idle.update(dict.fromkeys(nobody, round_.stop))
    done.passed_on.update(back, others)
    done.num_returned += len(back)
    done.num_moved += len(others)
    if kind is READY_TO_MIGRATE:
        done.num_handed_out += len(back) + len(others)


def why_ended(old_id: str, new_id: str | None, why: OwnershipEnd) -> OwnershipEnd:
    if new_id is None:
        return OwnershipEnd.MEMBER_LEFT
    return why if new_id == old_id else OwnershipEnd.STATIC_REPLACED


def go_on(round_: Round, old_id: str, new_id: str, tps: Iterable[int], phase: OwnershipPhase) -> None:
    """Without a stop, under another id or in another phase."""
    why = OwnershipEnd.PHASE_CHANGED if old_id == new_id else OwnershipEnd.STATIC_REPLACED
    for tp in tps:
        round_.group.ledger.release(round_.at, tp, old_id, why)
        round_.group.ledger.own(stretch(round_, tp, new_id, phase, True))


def withhold(round_: Round, done: Handover, old_id: str, new_id: str, tps: Tps, revoking: Tps) -> None:
    """The member learns with the assignment that it has to give these up. `revoking`: it knew before."""
    if not tps:
        return
    go_on(round_, old_id, new_id, tps - revoking, REVOKING)
    round_.now.revoking[new_id] = tps
    given = [tp for tp in tps if tp in done.given]
    tell_withheld(round_, done, tps.difference(given), old_id)
    tell(round_, done, given, MOVED, old_id, 0)
    done.passed_on.update(given)
    done.num_moved += len(given)
    for tp in given:
        told = round_.group.context.topics.told(tp)
        two_owners(round_, f"{told} went to {done.given[tp]} while {new_id} still owned it")


def tell_withheld(round_: Round, done: Handover, tps: Tps, member_id: str) -> None:
    tell(round_, done, tps - done.unknown_owned, MoveKind.WITHHELD, member_id, None)
    tell(round_, done, tps & done.unknown_owned, MoveKind.UNKNOWN_OWNED, member_id, None)


def claim_without_stay(round_: Round, done: Handover, sets: GroupSets) -> None:
    """Where records are missing a member may claim what nobody is known to own."""
    missing = sets.withheld | sets.unknown_owned
    if not missing:
        return
    owners = round_.group.ledger.owners
    for member in round_.now.value.members:
        claimed = (member.claimed or NOTHING) & missing
        tps = frozenset(tp for tp in claimed if (tp, None) not in owners)
        for tp in tps:
            round_.group.ledger.own(stretch(round_, tp, member.member_id, REVOKING, False))
            round_.now.idle.pop(tp, None)
        if tps:
            mine = round_.now.revoking.get(member.member_id, NOTHING)
            round_.now.revoking[member.member_id] = mine | tps
            tell_withheld(round_, done, tps, member.member_id)


def give(round_: Round, done: Handover, member: ClassicMember, tps: Tps) -> None:
    own, member_id, claimed = round_.group.ledger.own, member.member_id, member.claimed or NOTHING
    (offset, time), generation = round_.at, round_.now.value.generation
    for tp in tps:
        # What it claims without a stay that is known it may have owned for long.
        is_exact = round_.is_exact and tp not in claimed
        own(OwnerStretch(time, offset, is_exact, offset, GROUP_TYPE, tp, member_id, generation, ASSIGNED))
    idle, group_id = round_.now.idle, round_.group.group_id
    for tp in tps - done.passed_on:
        idle_ms = milliseconds(idle.pop(tp, None), time)
        if tp not in claimed:
            done.stopped_ms += idle_ms or 0
            done.moves.append(
                (group_id, GROUP_TYPE, offset, tp, False, MoveKind.ASSIGNED, None, member_id, offset, time, None,
                 idle_ms, None, round_.first_offset, offset, CERTAIN)
            )  # fmt: skip


def tell(round_: Round, done: Handover, tps: Collection[int], kind: MoveKind, old_id: str, idle_ms: int | None) -> None:
    """That these left their member, for whoever gets them now."""
    group_id, (offset, time), first, given = round_.group.group_id, round_.at, round_.first_offset, done.given
    done.stopped_ms += (idle_ms or 0) * len(tps)
    done.moves += [
        (group_id, GROUP_TYPE, offset, tp, False, kind, old_id, given.get(tp), offset, time, None, idle_ms, None,
         first, offset, CERTAIN)
        for tp in tps
    ]  # fmt: skip


def stretch(round_: Round, tp: int, member_id: str, phase: OwnershipPhase, is_exact: bool) -> OwnerStretch:
    offset, time = round_.at
    generation = round_.now.value.generation
    return OwnerStretch(time, offset, is_exact, offset, GROUP_TYPE, tp, member_id, generation, phase)


def swap(round_: Round) -> None:
    """Static instances came back under other ids, without a rebalance: what the old id was given the new one has."""
    assert round_.before is not None
    ledger = round_.group.ledger
    for old_id, held, revoking in stays_of(round_.group, round_.before):
        new_id = round_.replaced.get(old_id)
        if new_id is None:
            if revoking:
                round_.now.revoking[old_id] = revoking
            continue
        for tp in held | revoking:
            ledger.release(round_.at, tp, old_id, OwnershipEnd.STATIC_REPLACED, is_exact=round_.is_exact)
            # What it was asked to give up ended with its process.
            if tp in held:
                ledger.own(stretch(round_, tp, new_id, ASSIGNED, round_.is_exact))
            else:
                round_.now.idle[tp] = round_.at.time


# -- what should not be


def check_claims(round_: Round, sets: GroupSets) -> None:
    members = round_.now.value.members
    if sum(len(member.assigned or ()) for member in members) != len(sets.assigned):
        for tp, ids in shared_by({member.member_id: member.assigned or NOTHING for member in members}).items():
            told = round_.group.context.topics.told(tp)
            two_owners(round_, f"{told} was given to {' and '.join(ids)}")
    if sum(len(member.claimed or ()) for member in members) == len(sets.claimed):
        return
    # A claim of an older generation is void; of one generation two claims are one too many.
    for generation in {member.generation_id for member in members if member.claimed}:
        of_one = {each.member_id: each.claimed or NOTHING for each in members if each.generation_id == generation}
        for tp, ids in shared_by(of_one).items():
            told = round_.group.context.topics.told(tp)
            two_owners(round_, f"{told} was claimed by {' and '.join(ids)}", Severity.WARNING)


def shared_by(sets: dict[str, Tps]) -> dict[int, list[str]]:
    by_tp: dict[int, list[str]] = {}
    for member_id, tps in sorted(sets.items()):
        for tp in tps:
            by_tp.setdefault(tp, []).append(member_id)
    return {tp: ids for tp, ids in sorted(by_tp.items()) if len(ids) > 1}


def two_owners(round_: Round, told: str, severity: Severity = Severity.CRITICAL) -> None:
    round_.group.anomaly(round_.record, AnomalyKind.TWO_OWNERS, severity, told)
