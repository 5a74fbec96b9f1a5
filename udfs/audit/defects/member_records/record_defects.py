"""Signatures of known coordinator defects in single records of consumer groups. Each function returns Kafka's issue, or
None. `udfs.audit.modern.group` calls them record by record."""

from collections.abc import Collection, Mapping

from udfs.groups.readers.modern_values import UNRELEASED, About


def kept_pattern(about: About) -> str | None:
    """A classic member replaced a static member of the consumer protocol and kept its pattern."""
    return "KAFKA-19720" if about.is_classic and about.regex is not None else None


def cleared_pattern(before: About | None, now: About, is_bumped: bool) -> str | None:
    """A member cleared its pattern, and no group epoch followed: its targets keep the topics of the pattern."""
    was_cleared = before is not None and before.regex is not None and now.regex is None
    return "KAFKA-19891" if was_cleared and not is_bumped else None


def changed_assignor(before: About | None, now: About, is_bumped: bool) -> str | None:
    """`before`: the static member that was replaced, by one that asks for another assignor."""
    return "KAFKA-20434" if before is not None and before.assignor != now.assignor and not is_bumped else None


def classic_alone(before: About | None, now: About, all_now: Collection[About | None]) -> str | None:
    """`before`: the static member of the consumer protocol that a classic one replaced; no member with the consumer
    protocol is left since."""
    is_replaced = before is not None and not before.is_classic and now.is_classic
    are_classic = all(about is not None and about.is_classic for about in all_now)
    return "KAFKA-17317" if is_replaced and are_classic else None


def inherited_instance(renamed: Mapping[str, str], member_id: str, about: About, live: Collection[str]) -> str | None:
    """`renamed`: static ids that members changed. A new member with such an id inherits that member's target."""
    owner = renamed.get(about.group_instance_id or "")
    return "KAFKA-20747" if owner is not None and owner != member_id and owner in live else None


def owned_twice(epoch: int, other_epoch: int) -> str | None:
    """Two members own a partition, both at the epoch that only one of them should have reached."""
    return "KAFKA-19974" if epoch == other_epoch else None


def unsubscribed_defect(assigned: Collection[str | None], about: About | None) -> str | None:
    """A member was assigned, or kept, topics that it does not subscribe to. `assigned`: names, None if unknown."""
    if about is None or about.regex is not None:
        return None
    return "KAFKA-19431" if any(name is not None and name not in (about.topics or ()) for name in assigned) else None


def waits_for_itself(state: str | None, missing: Collection[str | None], member_id: str) -> str | None:
    """The member waits for partitions that only it has, among those that it gives up. `missing`: who has them."""
    is_alone = all(owner in (None, member_id) for owner in missing)
    return "KAFKA-19449" if state == UNRELEASED and missing and is_alone else None
