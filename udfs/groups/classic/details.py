"""Describes the difference between two values of a classic group in words, with names."""

from collections.abc import Iterable, Iterator

from schemas.words.history import LeaveKind, RebalanceTrigger
from udfs.groups.classic.causes import leave_kind
from udfs.groups.classic.rebalance_rows import Handover
from udfs.groups.classic.rounds import Round
from udfs.groups.history.change_details import (
    GONE_OR_UNKNOWN,
    PLAIN,
    Change,
    GoneMember,
    departure_change,
    join_change,
    member_name,
    other_assignor,
    partition_changes,
    partitions,
    restart_change,
    subscription,
)
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue
from udfs.groups.states.kip429_sets import GroupSets, union

MEMBERS_ONLY = (RebalanceTrigger.GROUP_CREATED, RebalanceTrigger.GROUP_EMPTIED)


def round_changes(round_: Round, joined_ids: Iterable[str], left_ids: Iterable[str], trigger: str) -> list[Change]:
    """Changes of members. Call this before the ledger forgets members that left."""
    changes = [*(join_change(name_of(round_.members_now[each])) for each in joined_ids), *departures(round_, left_ids)]
    for old_id, new_id in round_.replaced.items():
        changes.append(restart_change(round_.members_now[new_id].group_instance_id, old_id, new_id))
    if trigger in MEMBERS_ONLY or round_.before is None:
        return changes
    changes += other_assignor(round_.before.value.protocol, round_.now.value.protocol)
    return changes + list(subscriptions(round_))


def departures(round_: Round, left_ids: Iterable[str]) -> Iterator[Change]:
    """Client names come from the ledger: stored states of groups do not have them."""
    for member_id in left_ids:
        of = round_.group.ledger.members.get(member_id)
        name = member_id if of is None else member_name(member_id, of.client_id, of.client_host, of.group_instance_id)
        kind, _ = leave_kind(round_, round_.members_before[member_id])
        yield departure_change(
            name, kind, GoneMember(member_id, round_.at.offset) if kind == LeaveKind.LEFT_OR_TIMED_OUT else None
        )


def subscriptions(round_: Round) -> Iterator[Change]:
    replaced = {new_id: old_id for old_id, new_id in round_.replaced.items()}
    for member_id, member in round_.members_now.items():
        before = round_.members_before.get(replaced.get(member_id, member_id))
        if before is None or before.topics is None or member.topics is None or before.topics == member.topics:
            continue
        yield from subscription(name_of(member), before.topics, member.topics)


def trigger_detail(
    round_: Round, handover: Handover, trigger: str, changes: list[Change], sets: GroupSets
) -> str | None:
    """`changes`: those of members."""
    if trigger != RebalanceTrigger.UNKNOWN:
        changes = [*changes, *metadata(round_, trigger, sets), *of_the_round(round_, handover, trigger)]
    return round_.group.detail(round_.at.offset, trigger, changes)


def metadata(round_: Round, trigger: str, sets: GroupSets) -> list[Change]:
    """Topics that existed before and after. Sets of equal size are skipped, which are most."""
    before = round_.before
    # A conversion copies only what the members had that stay.
    if before is None or before.is_copied or not before.value.members or not round_.now.value.members:
        return []
    is_cause = trigger == RebalanceTrigger.METADATA_CHANGED
    had = (
        before.assigned_partitions | union(before.revoking.values()) if before.revoking else before.assigned_partitions
    )
    has = sets.assigned | sets.withheld if sets.withheld else sets.assigned
    if (len(had) == len(has) and not is_cause) or not (is_read(before.value) and is_read(round_.now.value)):
        return []
    return partition_changes(had, has, round_.group.context.topics, is_cause=is_cause, deleted=GONE_OR_UNKNOWN)


def is_read(value: ClassicValue) -> bool:
    return all(member.assigned is not None for member in value.members)


def of_the_round(round_: Round, handover: Handover, trigger: str) -> list[Change]:
    before, now = round_.before, round_.now
    if trigger == RebalanceTrigger.PROTOCOL_MIGRATION:
        return [Change(trigger, PLAIN, "consumer → classic")]
    if before is None:
        return []
    if trigger == RebalanceTrigger.COORDINATOR_FAILOVER:
        epochs = f"leader epoch {before.leader_epoch} → {now.leader_epoch}"
        return [Change(trigger, PLAIN, f"{epochs}, generation {before.value.generation} → {now.value.generation}")]
    if trigger == RebalanceTrigger.LEADER_REJOINED:
        return [Change(trigger, PLAIN, rejoin_text(round_, handover))]
    return []


def rejoin_text(round_: Round, handover: Handover) -> str:
    assert round_.before is not None
    if handover.num_handed_out:
        generation = round_.before.value.generation
        withheld = partitions(handover.num_handed_out)
        return f"assigns {withheld}, which generation {generation} withheld from their new owners"
    before, now = round_.before.value.leader, round_.now.value.leader
    same = "members, subscriptions and assignor did not change"
    return same if before == now else f"{same}; only the leader did: {before} → {now}"


def name_of(member: ClassicMember) -> str:
    return member_name(member.member_id, member.client_id, member.client_host, member.group_instance_id)
