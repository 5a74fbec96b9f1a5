"""What triggered the target assignments of consumer, share and streams groups."""

from collections.abc import Mapping

from schemas.words.history import Confidence, RebalanceTrigger
from udfs.groups.history.change_details import Change, GoneMember, departure_change, join_change, restart_change
from udfs.groups.modern.details import name_of
from udfs.groups.modern.members import commits_may_tell, leave_kind
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import Cause, Member, Modern, Rebalance, Start

WANTED = (RebalanceTrigger.MEMBER_JOINED, RebalanceTrigger.SUBSCRIPTION_CHANGED)


def note_causes(group: Group, now: Modern, replaced: Mapping[str, str], start: Start, at: Moment) -> bool:
    """Finds the cause of each group epoch: changes in its own operation, else changes in earlier operations that had no
    epoch. Returns whether the operation leads to a target: by an epoch, or because the current epoch still waits for
    one. `start`: the first record of the operation."""
    changes = evidence(group, now, replaced, at)
    if now.operation.bump is not None:
        trigger = cause(now, changes, start.is_exact)
        now.causes.append(Cause(now.epoch, trigger, start, [*now.carried, *changes]))
        now.carried = []
        return True
    # A static member that came back without a new epoch does not cause a later rebalance.
    changes = [each for each in changes if each.trigger != RebalanceTrigger.STATIC_RESTART]
    now.carried += changes
    waits = now.epoch is not None and now.target_epoch is not None and now.epoch > now.target_epoch
    return bool(changes) and waits


def evidence(group: Group, now: Modern, replaced: Mapping[str, str], at: Moment) -> list[Change]:
    """Changes in log order: first of members, then of the whole group."""
    changes: list[Change] = []
    operation, old_ids = now.operation, {new_id: old_id for old_id, new_id in replaced.items()}
    for member_id, is_known in operation.touched.items():
        member = now.members.get(member_id)
        if member is None:
            if member_id in group.ledger.members and member_id not in replaced:
                gone = operation.departed.get(member_id, Member())
                kind = leave_kind(gone, is_known, at)
                key = GoneMember(member_id, at.offset) if commits_may_tell(now, kind) else None
                changes.append(departure_change(name_of(member_id, gone), kind, key))
        elif member_id in old_ids:
            changes.append(restart_change(member.group_instance_id, old_ids[member_id], member_id))
        elif member_id not in group.ledger.members and (is_known or member_id in operation.joining):
            changes.append(join_change(name_of(member_id, member)))
        else:
            changes += operation.changes.get(member_id, [])
    return changes + operation.evidence


def cause(now: Modern, changes: list[Change], is_exact: bool) -> str:
    if changes:
        # If members subscribe only by pattern, the epoch changes later, when the pattern is resolved.
        wanted = [each.trigger for each in now.carried if each.trigger in WANTED]
        first = changes[0].trigger
        return wanted[0] if first == RebalanceTrigger.REGEX_RESOLVED and wanted else first
    if now.carried:
        return now.carried[0].trigger
    # An epoch without records of members: topics were created or deleted, or got more partitions or other racks.
    return RebalanceTrigger.METADATA_CHANGED if is_exact and now.operation.is_hash_changed else RebalanceTrigger.UNKNOWN


def causes_until(now: Modern, epoch: int) -> list[Cause]:
    """Causes of the group epochs that a target of this epoch covers. There may be newer ones already."""
    return [each for each in now.causes if each.epoch is None or each.epoch <= epoch]


def causes_after(now: Modern, epoch: int) -> list[Cause]:
    return [each for each in now.causes if each.epoch is not None and each.epoch > epoch]


def trigger(now: Modern, causes: list[Cause]) -> str:
    """The trigger of a target that covers the group epochs since the previous target."""
    if now.former_type is not None:
        return RebalanceTrigger.PROTOCOL_MIGRATION
    if now.generation is None:
        return RebalanceTrigger.GROUP_CREATED if now.is_created else RebalanceTrigger.UNKNOWN
    triggers = (*(each.trigger for each in causes), *(each.trigger for each in now.carried))
    return next((each for each in triggers if each != RebalanceTrigger.UNKNOWN), RebalanceTrigger.UNKNOWN)


def confidence(of: Rebalance) -> Confidence:
    if of.trigger == RebalanceTrigger.UNKNOWN:
        return Confidence.POSSIBLE
    return Confidence.CERTAIN if of.start.is_exact else Confidence.LIKELY
