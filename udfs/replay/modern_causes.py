"""What set off the target assignments of consumer, share and streams groups."""

from collections.abc import Mapping

from schemas.history_words import RebalanceTrigger
from udfs.replay.group import Group
from udfs.replay.modern_state import Modern

WANTED = (RebalanceTrigger.MEMBER_JOINED, RebalanceTrigger.SUBSCRIPTION_CHANGED)


def note_causes(group: Group, now: Modern, replaced: Mapping[str, str], is_exact: bool) -> bool:
    """Each group epoch has a cause: what its own operation shows, else what operations before it showed without one.
    Answers whether the operation leads to a target: by an epoch, or because a target for the epoch waits."""
    found = evidence(group, now, replaced)
    if now.operation.bump is not None:
        now.causes.append(cause(now, found, is_exact))
        now.carried = []
        return True
    now.carried += found
    waits = now.epoch is not None and now.target_epoch is not None and now.epoch > now.target_epoch
    return bool(found) and waits


def evidence(group: Group, now: Modern, replaced: Mapping[str, str]) -> list[str]:
    """In log order: of members, then of the group as a whole."""
    found: list[str] = []
    operation = now.operation
    for member_id, is_known in operation.touched.items():
        if member_id not in now.members:
            if member_id in group.ledger.members and member_id not in replaced:
                found.append(RebalanceTrigger.MEMBER_LEFT)
        elif member_id in replaced.values():
            found.append(RebalanceTrigger.STATIC_RESTART)
        elif member_id not in group.ledger.members and (is_known or member_id in operation.joining):
            found.append(RebalanceTrigger.MEMBER_JOINED)
        elif member_id in operation.changes:
            found.append(operation.changes[member_id])
    return found + list(operation.evidence)


def cause(now: Modern, found: list[str], is_exact: bool) -> str:
    if found:
        # Who subscribes by pattern alone changes the epoch only when the pattern is resolved, later.
        wanted = [each for each in now.carried if each in WANTED]
        return wanted[0] if found[0] == RebalanceTrigger.REGEX_RESOLVED and wanted else found[0]
    if now.carried:
        return now.carried[0]
    # An epoch without any record of members: topics were created or deleted, or got partitions or other racks.
    return RebalanceTrigger.METADATA_CHANGED if is_exact and now.operation.is_hash_changed else RebalanceTrigger.UNKNOWN


def trigger(now: Modern) -> str:
    """Of the target that covers the group epochs since the one before."""
    if now.is_migrated:
        return RebalanceTrigger.PROTOCOL_MIGRATION
    if now.generation is None:
        return RebalanceTrigger.GROUP_CREATED if now.is_created else RebalanceTrigger.UNKNOWN
    return next(iter((*now.causes, *now.carried)), RebalanceTrigger.UNKNOWN)
