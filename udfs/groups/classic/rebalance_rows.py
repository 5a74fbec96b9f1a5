"""Makes the rows of one rebalance of a classic group: the rebalance, its members, and the partitions that changed
owners."""

from dataclasses import dataclass, field

from schemas.words.history import MemberChange, MoveKind, RebalanceOutcome
from udfs.groups.classic import causes
from udfs.groups.classic.reading_stops import Ends
from udfs.groups.classic.rounds import Round, milliseconds
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.reading_ends import CLASSIC_DELIVERY, NO_DELIVERY, UNKNOWN_END
from udfs.groups.history.row_makers import GENERATION_MEMBER, PARTITION_MOVE, READING_END, REBALANCE
from udfs.groups.history.rows import Row
from udfs.groups.readers.classic_records import NOTHING, ClassicMember, Tps
from udfs.groups.states.classic import GROUP_TYPE
from udfs.groups.states.kip429_sets import GroupSets, member_sets

NO_SETS = MemberSets(added=NOTHING, revoked=NOTHING, kept=NOTHING, lost=NOTHING, dropped_before_join=NOTHING)


@dataclass(slots=True)
class Handover:
    """What a rebalance did to owners, and its rows of `partition_moves`."""

    # Members that came back without what they had before.
    lost: set[str]
    sets: GroupSets
    # By member: which of its assigned partitions it keeps.
    kept: dict[str, Tps] = field(default_factory=dict)
    # Partitions whose new owner already has a row, written when the old owner lost them.
    passed_on: set[int] = field(default_factory=set)
    # Members that gave up everything and were assigned the same again.
    restored: set[str] = field(default_factory=set)
    # By partition, the members it is assigned to. Filled when first needed.
    assignees: dict[int, list[ClassicMember]] = field(default_factory=dict)
    # Withheld by the previous rebalance and assigned now.
    num_handed_out: int = 0
    num_moved: int = 0
    num_returned: int = 0
    stopped_ms: int = 0
    moves: list[Row] = field(default_factory=list)
    # For each move, when reading ended.
    ends: list[Row] = field(default_factory=list)


def add_moves(
    round_: Round, handover: Handover, tps: Tps, kind: MoveKind, from_id: str | None, to_id: str | None,
    idle_ms: int | None, ends: Ends = (),
) -> None:  # fmt: skip
    """`ends`: when reading ended, for these partitions and possibly others."""
    if not tps:
        return
    offset, time = round_.at
    handover.stopped_ms += (idle_ms or 0) * len(tps)
    delivery_ms, delivery_basis = NO_DELIVERY if to_id is None else CLASSIC_DELIVERY
    for of, end in ends or [(tps, UNKNOWN_END)]:
        some = tps if of is tps else tps & of
        if some:
            handover.ends.append(READING_END(
                end, tp=some, is_counted=not end.is_grown, delivery_ms=delivery_ms, delivery_basis=delivery_basis,
            ))  # fmt: skip
            handover.moves.append(PARTITION_MOVE(
                group_id=round_.group.group_id, group_type=GROUP_TYPE, assignment_offset=offset, tp=some,
                is_provisional=False, kind=kind, from_member_id=from_id, to_member_id=to_id, move_offset=offset,
                move_time=time, role=None, idle_ms=idle_ms, evidence_first_offset=round_.first_offset,
                evidence_last_offset=offset,
            ))  # fmt: skip


def write_rebalance(
    round_: Round, handover: Handover, cause: causes.Cause, joined: list[str], left: list[str], sets: GroupSets,
    detail: str | None, began: int | None,
) -> None:  # fmt: skip
    """`began`: the join phase, if the log shows when."""
    before = None if round_.before is None else round_.before.value
    now, at = round_.now.value, round_.at
    trigger, confidence = cause
    outcome = RebalanceOutcome.COMPLETED if now.members else RebalanceOutcome.EMPTIED
    sync_ms = milliseconds(round_.stop, at.time) if round_.has_stop and now.members else None
    start = round_.stop if began is None else began
    round_.group.context.rows.add(REBALANCE(
        group_id=round_.group.group_id, group_type=GROUP_TYPE, assignment_offset=at.offset,
        from_generation=None if before is None else before.generation, to_generation=now.generation,
        start_time=start, is_start_exact=began is not None, end_time=at.time, is_provisional=False,
        duration_ms=milliseconds(start, at.time),
        outcome=outcome, trigger=trigger, mode=causes.mode(round_, sets), members_joined=joined, members_departed=left,
        num_members_before=len(round_.members_before), num_members_after=len(now.members),
        leader_before=None if before is None else before.leader, leader_after=now.leader,
        is_follow_up=handover.num_handed_out > 0, unpersisted_rounds=num_unpersisted(round_), sync_ms=sync_ms,
        assignor_before=None if before is None else before.protocol, assignor_after=now.protocol,
        trigger_detail=detail, **counts_of(round_, handover, sets),
        unread_partition_low_ms=None, unread_partition_high_ms=None, longest_unread_high_ms=None,
        evidence_first_offset=round_.first_offset, evidence_last_offset=at.offset, confidence=confidence,
    ))  # fmt: skip
    write_moves(round_, handover)


def write_moves(round_: Round, handover: Handover) -> None:
    round_.group.context.rows.of["partition_moves"] += handover.moves
    round_.group.context.rows.of["reading_ends"] += handover.ends


def counts_of(round_: Round, handover: Handover, sets: GroupSets) -> dict[str, int | None]:
    """By the name of the column. All are unknown if an assignment cannot be read."""
    counts: dict[str, int | None] = {
        "num_partitions": len(sets.assigned),
        "num_moved": handover.num_moved,
        "num_returned": handover.num_returned,
        "num_withheld": len(sets.withheld),
        "num_maybe_revoking": sets.num_maybe_revoking,
        "num_ready_to_migrate": sets.num_ready_to_migrate,
        "num_unknown_owned": len(sets.unknown_owned),
        "num_unowned": len(round_.had - sets.assigned),
        "stopped_partition_ms": handover.stopped_ms,
    }
    is_read = None not in [member.assigned for member in round_.now.value.members]
    return counts if is_read else dict.fromkeys(counts)


def num_unpersisted(round_: Round) -> int | None:
    """Rebalances since the previous value that left no value: every join phase adds one to the generation. None: not
    known, or generations are not numbers that a coordinator writes."""
    if not round_.is_exact:
        return None
    last = 0 if round_.before is None else round_.before.value.generation
    now = round_.now.value.generation
    if last < 0:
        return None
    return None if now <= last else now - last - 1 - sum(1 for passed in round_.passed if last < passed < now)


def write_members(round_: Round, replaced_by: dict[str, str], left: list[str]) -> None:
    value = round_.now.value
    rows = round_.group.context.rows.of["generation_members"]
    group_id, offset, first_offset = round_.group.group_id, round_.at.offset, round_.first_offset
    is_known = round_.before is not None or round_.is_exact
    for member in value.members:
        member_id = member.member_id
        previous = round_.previous(replaced_by.get(member_id, member_id))
        rows.append(GENERATION_MEMBER(
            member_sets(previous or NOTHING, member),
            group_id=group_id, group_type=GROUP_TYPE, assignment_offset=offset, member_id=member_id,
            generation_or_epoch=value.generation, group_instance_id=member.group_instance_id,
            change=change_of(round_, member, replaced_by), is_leader=member_id == value.leader,
            subscribed_topics=member.topics, previous_assigned=previous if is_known else None,
            claimed_owned=member.claimed, assigned=member.assigned,
            evidence_first_offset=first_offset, evidence_last_offset=offset,
        ))  # fmt: skip
    for member_id in left:
        member = round_.members_before[member_id]
        rows.append(GENERATION_MEMBER(
            NO_SETS,
            group_id=group_id, group_type=GROUP_TYPE, assignment_offset=offset, member_id=member_id,
            generation_or_epoch=value.generation, group_instance_id=member.group_instance_id,
            change=MemberChange.LEFT, is_leader=False, subscribed_topics=None, previous_assigned=member.assigned,
            claimed_owned=None, assigned=NOTHING, evidence_first_offset=first_offset, evidence_last_offset=offset,
        ))  # fmt: skip


def change_of(round_: Round, member: ClassicMember, replaced_by: dict[str, str]) -> MemberChange:
    if member.member_id in round_.members_before:
        return MemberChange.KEPT
    return MemberChange.RESTARTED if member.member_id in replaced_by else MemberChange.JOINED
