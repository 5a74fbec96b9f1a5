"""Groups that continue as another group type: members and what they own survive an online conversion."""

from collections.abc import Mapping, Sequence

from schemas.records import types_by_group_type
from schemas.words.history import LeaveKind, OwnershipEnd, OwnershipPhase, RebalanceOutcome, StateEnd
from schemas.words.records import GroupType
from udfs.groups.classic import classic_groups
from udfs.groups.history.ledger import Ledger
from udfs.groups.history.reading_ends import unbounded
from udfs.groups.modern.members import leave_kind
from udfs.groups.modern.modern_groups import advance, seen_whole
from udfs.groups.modern.modern_groups import settle as settle_modern
from udfs.groups.modern.rebalances import assigned_to, close
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.modern_values import Target, TargetEpoch
from udfs.groups.readers.recorded_lists import Partitions
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Group
from udfs.groups.states.holders import Holders
from udfs.groups.states.modern import NOTHING, Base, Modern, Placed, Start, Stop
from udfs.topics.partition_codes import PARTITION_MASK, SHIFT, TopicCodes

ENDS = (StateEnd.CONVERTED, LeaveKind.CONVERTED, OwnershipEnd.CONVERTED)
# The owner before the conversion, which no row names.
NOBODY = ""
MEMBER_TYPE, COPIED_TARGET_TYPE, COPIED_EPOCH_TYPE = (
    types_by_group_type(table)[GroupType.CONSUMER]
    for table in ("group_member_metadata", "target_assignment_members", "target_assignment_metadata")
)


def settle(group: Group, before: Classic | Modern, operation: Sequence[Record], at: Moment) -> None:
    """Handles an operation that changed the type of this group."""
    now = group.now
    if isinstance(before, Classic) and isinstance(now, Modern) and set(group.ledger.members) & now.members.keys():
        upgrade(group, before, now, operation, at)
    elif isinstance(before, Modern) and isinstance(now, Classic) and now.value.members and group.ledger.members:
        downgrade(group, before, now, operation, at)
    else:
        replace(group, before, list(operation), at)


def replace(group: Group, before: Classic | Modern, operation: list[Record], at: Moment) -> None:
    """Offline: the group had no members. Its generation starts again, its offsets stay."""
    if isinstance(before, Modern) and before.rebalance is not None:
        close(group, before, RebalanceOutcome.SUPERSEDED, at)
    group.ledger.end_all(at, *ENDS)
    pass_on_unowned(before, group.now, group.context.topics)
    if isinstance(group.now, Modern):
        group.now.former_type = before.group_type
        if isinstance(before, Classic):
            group.now.assignor = before.value.protocol
        settle_modern(group, None, operation, at)
    else:
        seen_whole(group, operation)
        classic_groups.settle(group, None, [record for record in operation if record.value is not None], at)


# -- online, to the consumer protocol


def upgrade(group: Group, before: Classic, now: Modern, operation: Sequence[Record], at: Moment) -> None:
    """The batch first copies the classic group, with its generation as the epoch. Then come the joining member's own
    records."""
    is_exact = seen_whole(group, operation)
    ledger, topics = group.ledger, group.context.topics
    ledger.end_state(at, StateEnd.CONVERTED)
    rekey(ledger, topics, codes_by_name(now, topics))
    shown = shown_of(ledger)
    for member_id in [each for each in ledger.members if each not in now.members]:
        if member_id not in now.operation.departed:
            release_shown(ledger, at, member_id, shown.get(member_id, {}), OwnershipEnd.CONVERTED)
            ledger.leave(at, member_id, LeaveKind.CONVERTED, now.epoch)
    now.holders = Holders.of(ledger.stretches())
    for member_id, member in (now.members | now.operation.departed).items():
        member.shown = shown.get(member_id, {})
    take_over_copy(group, now, operation)
    pass_on_unowned(before, now, topics)
    own = [record.offset for record in operation if record.type == MEMBER_TYPE and record.member not in ledger.members]
    now.start = Start(at.time, min(own, default=at.offset), is_exact)
    now.former_type, now.assignor = before.group_type, before.value.protocol
    advance(group, now, operation, is_exact, at)


def take_over_copy(group: Group, now: Modern, operation: Sequence[Record]) -> None:
    """The first target in the batch is the last assignment of the classic group, not a rebalance."""
    copied: dict[str, Target] = {}
    for record in operation:
        if record.type == COPIED_TARGET_TYPE and record.value is not None:
            copied[str(record.member)] = record.value
        if record.type == COPIED_EPOCH_TYPE and record.value is not None:
            value: TargetEpoch = record.value
            now.generation = now.reported_target = value.epoch
            now.assignment_offset = record.offset
            break
    members = group.ledger.members
    now.base = {
        member_id: Base(members[member_id].group_instance_id, assigned_to(group.context.topics, now, of.assigned))
        for member_id, of in copied.items()
        if member_id in members
    }


def codes_by_name(now: Modern, topics: TopicCodes) -> dict[str, int]:
    """Codes of topics with ids: classic groups know only names."""
    owned = [by_role for member in now.members.values() for by_role in (member.assigned, member.pending)]
    shares = [share for by_role in (*owned, *now.targets.values()) for share in by_role.values()]
    codes = {tp >> SHIFT for share in shares if isinstance(share, Partitions) for tp in share.tps}
    return {name: code for code in codes if (name := topics.topics[code][0]) is not None}


# -- online, to the classic protocol


def downgrade(group: Group, before: Modern, now: Classic, operation: Sequence[Record], at: Moment) -> None:
    """The last member with the consumer protocol left by itself, or a static member with the classic protocol replaced
    it. The others stay with what their targets assign, and the epoch continues as the generation."""
    seen_whole(group, operation)
    for record in operation:
        if record.type == CLASSIC_TYPE:
            group.is_exact(classic_groups.KEY, record)
    ledger, topics = group.ledger, group.context.topics
    ledger.end_state(at, StateEnd.CONVERTED)
    if before.rebalance is not None:
        close(group, before, RebalanceOutcome.SUPERSEDED, at)
    rekey(ledger, topics, {name: topics.of_name(name) for name in names_of(ledger, topics)})
    pass_on_unowned(before, now, topics)
    stay = {member.member_id: member.assigned or frozenset() for member in now.value.members}
    instances = {member.group_instance_id for member in now.value.members} - {None}
    # The next generation assigns what no copied assignment names.
    assigned = frozenset[int]().union(*stay.values())
    shown, has_left = shown_of(ledger), False
    for member_id in list(ledger.members):
        own = shown.get(member_id, {})
        if member_id in stay:
            keep_assigned(ledger, at, member_id, own, stay[member_id])
            continue
        is_replaced = ledger.members[member_id].group_instance_id in instances
        has_left |= not is_replaced
        why = OwnershipEnd.STATIC_REPLACED if is_replaced else OwnershipEnd.MEMBER_LEFT
        release_shown(ledger, at, member_id, own, why)
        for (phase, _), tps in own.items():
            end = unbounded(at.time, is_told=phase == OwnershipPhase.REVOKING)
            now.idle.update((tp, end) for tp in tps - assigned)
        kind = LeaveKind.STATIC_REPLACED if is_replaced else kind_of(before, member_id, at)
        ledger.leave(at, member_id, kind, now.value.generation)
    classic_groups.adopt(group, now, at, is_rebalancing=has_left)


def kind_of(before: Modern, member_id: str, at: Moment) -> LeaveKind:
    member = before.operation.departed.get(member_id) or before.members.get(member_id)
    return LeaveKind.UNKNOWN if member is None else leave_kind(member, True, at)


def keep_assigned(ledger: Ledger, at: Moment, member_id: str, own: Placed, assigned: frozenset[int]) -> None:
    for (phase, role), tps in own.items():
        ledger.release(at, tps - assigned, member_id, OwnershipEnd.CONVERTED, role=role)
        if phase != OwnershipPhase.ASSIGNED:
            ledger.release(at, tps & assigned, member_id, OwnershipEnd.PHASE_CHANGED, role=role)


# -- both


def pass_on_unowned(before: Classic | Modern, now: Classic | Modern | None, topics: TopicCodes) -> None:
    """Partitions without an owner stay unread. Their topics go by name until somebody gets them."""
    if isinstance(before, Classic) and isinstance(now, Modern):
        for tp, end in before.idle.items():
            now.stops[tp, None] = Stop(NOBODY, end.stopped_time, before.offset, before.offset, True, end, True)
    elif isinstance(before, Modern) and isinstance(now, Classic):
        now.idle.update((topics.by_name(tp), stop.end) for (tp, role), stop in before.stops.items() if role is None)


def names_of(ledger: Ledger, topics: TopicCodes) -> set[str]:
    codes = {tp >> SHIFT for of in ledger.stretches() for tp in of.tp}
    return {name for code in codes if (name := topics.topics[code][0]) is not None}


def rekey(ledger: Ledger, topics: TopicCodes, codes: Mapping[str, int]) -> None:
    """Open ownership intervals continue under the topics' other codes, found by name."""
    for of in ledger.stretches():
        of.tp = frozenset(codes.get(topics.name(tp) or "", tp >> SHIFT) << SHIFT | tp & PARTITION_MASK for tp in of.tp)


def shown_of(ledger: Ledger) -> dict[str, Placed]:
    """By member, what it owns."""
    by_member: dict[str, Placed] = {}
    for of in ledger.stretches():
        placed, key = by_member.setdefault(of.member_id, {}), (of.phase, of.role)
        placed[key] = placed.get(key, NOTHING) | of.tp
    return by_member


def release_shown(ledger: Ledger, at: Moment, member_id: str, shown: Placed, why: OwnershipEnd) -> None:
    for (_, role), tps in shown.items():
        ledger.release(at, tps, member_id, why, role=role)
