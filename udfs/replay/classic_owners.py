"""Who owns what after a round of a classic group. The log tells what members claimed as they joined and what they
got: a stay goes on if its member claimed the partition and got it again. What it did not claim it had given up before,
at the end of the join phase at the latest; what it claimed and did not get it gives up after the round."""

from dataclasses import dataclass, field

from schemas.history_words import AnomalyKind, MoveKind, OwnershipEnd, OwnershipPhase, Severity
from udfs.replay.classic_records import NOTHING, ClassicMember
from udfs.replay.classic_round import Round
from udfs.replay.ledger import OwnerStretch
from udfs.replay.records import Record

GROUP_TYPE = "classic"


@dataclass(slots=True)
class Move:
    tp: int
    kind: MoveKind
    from_member_id: str | None
    to_member_id: str | None
    idle_ms: int | None


@dataclass(slots=True)
class Handover:
    moves: list[Move] = field(default_factory=list)
    idle: dict[int, int | None] = field(default_factory=dict)
    # Given to a member that the round before had withheld it for.
    num_handed_out: int = 0


def stretch(round_: Round, tp: int, member_id: str, phase: OwnershipPhase, is_exact: bool) -> OwnerStretch:
    offset = round_.now.offset
    generation = round_.now.value.generation
    return OwnerStretch(round_.at.time, offset, is_exact, offset, GROUP_TYPE, tp, member_id, generation, phase)


def milliseconds(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None else max(0, last - first) // 1000


def hand_over(round_: Round, lost: dict[str, frozenset[int]], unknown: frozenset[int]) -> Handover:
    """`lost`: by member, what it had and came back without; `unknown`: claimed, but of topics that are gone."""
    done = Handover(idle=dict(round_.before.idle) if round_.before else {})
    given = {tp: member.member_id for member in round_.members_now.values() for tp in member.assigned or ()}
    settled: set[tuple[int, str]] = set()
    stays = [of for of_members in round_.group.ledger.owners.values() for of in of_members.values()]
    for of in stays:
        member_id = round_.replaced.get(of.member_id, of.member_id)
        member = round_.members_now.get(member_id)
        claims = member is not None and member.claimed is not None and of.tp in member.claimed
        if member is None or not claims:
            end_stay(round_, done, of, member, given.get(of.tp), lost, settled)
        elif member.assigned is not None and of.tp in member.assigned:
            settled.add((of.tp, member_id))
            go_on(round_, of, member_id, OwnershipPhase.ASSIGNED)
        else:
            settled.add((of.tp, member_id))
            withhold(round_, done, of, member_id, given.get(of.tp), unknown)
    claim_without_stay(round_, done, given, settled, unknown)
    give(round_, done, settled)
    return done


def end_stay(
    round_: Round, done: Handover, of: OwnerStretch, member: ClassicMember | None, receiver: str | None,
    lost: dict[str, frozenset[int]], settled: set[tuple[int, str]],
) -> None:  # fmt: skip
    """Given up before the member joined, or left behind by a member that went."""
    tp = of.tp
    round_.group.ledger.release(
        round_.at, tp, of.member_id, why_ended(of.member_id, member, receiver), until=stop_of(round_, of),
        is_exact=False,
    )  # fmt: skip
    is_lost = member is not None and tp in lost.get(member.member_id, NOTHING)
    if receiver is None:
        done.idle[tp] = stop_of(round_, of)
        kind = MoveKind.LOST if is_lost else MoveKind.REVOKED
        done.moves.append(Move(tp, kind, of.member_id, None, None))
        return
    is_same = member is not None and receiver == member.member_id
    if is_lost:
        kind = MoveKind.LOST
    elif is_same:
        kind = MoveKind.RETURNED
    else:
        kind = MoveKind.READY_TO_MIGRATE if of.phase == OwnershipPhase.REVOKING else MoveKind.MOVED
    done.num_handed_out += of.phase == OwnershipPhase.REVOKING
    idle = milliseconds(stop_of(round_, of), round_.at.time)
    done.moves.append(Move(tp, kind, of.member_id, receiver, idle))
    settled.add((tp, ""))


def stop_of(round_: Round, of: OwnerStretch) -> int | None:
    """A stay does not end before it began, whatever the clock of another broker says."""
    if round_.stop is None or of.from_time is None:
        return round_.stop
    return max(round_.stop, of.from_time)


def why_ended(member_id: str, member: ClassicMember | None, receiver: str | None) -> OwnershipEnd:
    if member is None:
        return OwnershipEnd.MEMBER_LEFT
    if member.member_id != member_id:
        return OwnershipEnd.STATIC_REPLACED
    return OwnershipEnd.REVOKED if receiver in (None, member_id) else OwnershipEnd.REASSIGNED


def go_on(round_: Round, of: OwnerStretch, member_id: str, phase: OwnershipPhase) -> None:
    if of.member_id == member_id and of.phase == phase:
        of.last_offset = round_.now.offset
        return
    why = OwnershipEnd.PHASE_CHANGED if of.member_id == member_id else OwnershipEnd.STATIC_REPLACED
    round_.group.ledger.release(round_.at, of.tp, of.member_id, why)
    round_.group.ledger.own(stretch(round_, of.tp, member_id, phase, True))


def withhold(
    round_: Round, done: Handover, of: OwnerStretch, member_id: str, receiver: str | None, unknown: frozenset[int]
) -> None:
    """The member learns with the assignment that it has to give the partition up."""
    go_on(round_, of, member_id, OwnershipPhase.REVOKING)
    if receiver is None:
        kind = MoveKind.UNKNOWN_OWNED if of.tp in unknown else MoveKind.WITHHELD
        done.moves.append(Move(of.tp, kind, of.member_id, None, None))
        return
    done.moves.append(Move(of.tp, MoveKind.MOVED, of.member_id, receiver, 0))
    told = round_.group.context.topics.told(of.tp)
    two_owners(round_, f"{told} went to {receiver} while {member_id} still owned it")


def claim_without_stay(
    round_: Round, done: Handover, given: dict[int, str], settled: set[tuple[int, str]], unknown: frozenset[int]
) -> None:
    """Where records are missing a member may claim what nobody is known to own."""
    owners = round_.group.ledger.owners
    for member in round_.members_now.values():
        for tp in member.claimed or ():
            if (tp, member.member_id) in settled or tp in given or (tp, None) in owners:
                continue
            round_.group.ledger.own(stretch(round_, tp, member.member_id, OwnershipPhase.REVOKING, False))
            done.idle.pop(tp, None)
            kind = MoveKind.UNKNOWN_OWNED if tp in unknown else MoveKind.WITHHELD
            done.moves.append(Move(tp, kind, member.member_id, None, None))


def give(round_: Round, done: Handover, settled: set[tuple[int, str]]) -> None:
    ledger, idle = round_.group.ledger, done.idle
    for member in round_.members_now.values():
        member_id, claimed = member.member_id, member.claimed or NOTHING
        for tp in member.assigned or ():
            if (tp, member_id) in settled:
                continue
            # What it claims without a stay that is known it may have owned for long.
            is_exact = round_.is_exact and tp not in claimed
            ledger.own(stretch(round_, tp, member_id, OwnershipPhase.ASSIGNED, is_exact))
            since = idle.pop(tp, None)
            if (tp, "") not in settled and tp not in claimed:
                done.moves.append(Move(tp, MoveKind.ASSIGNED, None, member_id, milliseconds(since, round_.at.time)))


def swap(round_: Round) -> None:
    """Static instances came back under other ids, without a rebalance: what the old id was given the new one has."""
    ledger = round_.group.ledger
    for of_members in list(ledger.owners.values()):
        for of in list(of_members.values()):
            new_id = round_.replaced.get(of.member_id)
            if new_id is None:
                continue
            ledger.release(round_.at, of.tp, of.member_id, OwnershipEnd.STATIC_REPLACED, is_exact=round_.is_exact)
            # What it was asked to give up ended with its process.
            if of.phase == OwnershipPhase.ASSIGNED:
                ledger.own(stretch(round_, of.tp, new_id, OwnershipPhase.ASSIGNED, round_.is_exact))
            else:
                round_.now.idle[of.tp] = round_.at.time


def two_owners(round_: Round, told: str, severity: Severity = Severity.CRITICAL) -> None:
    record = Record(round_.now.offset, round_.at.time, 0, round_.now.leader_epoch, 2, None, round_.now.value)
    round_.group.anomaly(record, AnomalyKind.TWO_OWNERS, severity, told)


def check_claims(round_: Round, num_claimed: int, num_assigned: int) -> None:
    """`num_claimed`, `num_assigned`: of all members together, each partition once."""
    members = round_.members_now.values()
    if sum(len(member.assigned or ()) for member in members) != num_assigned:
        for tp, ids in shared_by({member.member_id: member.assigned or NOTHING for member in members}).items():
            told = round_.group.context.topics.told(tp)
            two_owners(round_, f"{told} was given to {' and '.join(ids)}")
    if sum(len(member.claimed or ()) for member in members) == num_claimed:
        return
    for generation in {member.generation_id for member in members if member.claimed}:
        of_one = {m.member_id: m.claimed or NOTHING for m in members if m.generation_id == generation}
        for tp, ids in shared_by(of_one).items():
            told = round_.group.context.topics.told(tp)
            two_owners(round_, f"{told} was claimed by {' and '.join(ids)}", Severity.WARNING)


def shared_by(sets: dict[str, frozenset[int]]) -> dict[int, list[str]]:
    by_tp: dict[int, list[str]] = {}
    for member_id, tps in sorted(sets.items()):
        for tp in tps:
            by_tp.setdefault(tp, []).append(member_id)
    return {tp: ids for tp, ids in sorted(by_tp.items()) if len(ids) > 1}
