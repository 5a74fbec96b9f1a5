"""Targets that a coordinator computed from the group as it had been some epochs before it wrote them.

From 4.5 on an assignor may run beside the coordinator (KIP-1263), with inputs that were copied when it began. The
record shows what has changed since then: members that left have no target, a static member that came back under another
id gets the target of the one that it replaced, and members that joined have no target yet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from udfs.audit.modern.group import Inputs, ModernGroup
from udfs.audit.modern.questions import MemberInputs, member_inputs
from udfs.groups.readers.recorded_lists import join_lists, partitions_of


class Earlier(NamedTuple):
    """`group`: as it was."""

    epoch: int
    group: ModernGroup
    inputs: MemberInputs
    # By member then, who has its target now.
    heirs: Mapping[str, str]
    # Also with partitions that the members had before: of those who have left no target shows them any more.
    with_previous: MemberInputs


def earlier_inputs(group: ModernGroup, epoch: int) -> Iterator[Earlier]:
    """Of the epochs since the previous target up to this one, newest first; only those that may have given it. Raises
    `Unanswerable` where a subscription is missing."""
    for was in reversed(group.inputs):
        if was.epoch > epoch or not was.members or is_as_now(group, was):
            continue
        heirs = group.heirs_of(was)
        if are_enough(group, was, heirs):
            yield earlier(group, was, heirs)


def is_as_now(group: ModernGroup, was: Inputs) -> bool:
    return (
        was.epoch == group.epoch
        and was.members == group.abouts
        and was.metadata_hash == group.metadata_hash
        and was.targets == group.targets_before()
    )


def are_enough(group: ModernGroup, was: Inputs, heirs: dict[str, str]) -> bool:
    """Whether every member with a target of this epoch was there; others only have what they joined with: nothing."""
    known = {*heirs.values()}
    late = (each for each in group.members if each not in known)
    return known.issuperset(group.operation.replaced) and not any(
        len(partitions_of(group.targets.get(each, {}))) for each in late
    )


def earlier(group: ModernGroup, was: Inputs, heirs: dict[str, str]) -> Earlier:
    past = group.as_it_was(was)
    former = {heir: each for each, heir in heirs.items()}
    written = tuple(former[each] for each in group.operation.replaced)
    known = member_inputs(past, was.members, written)
    after = tuple(partitions_of(group.targets.get(heirs.get(each, ""), {})) for each in known.members)
    gone = frozenset(place for place, each in enumerate(known.members) if each not in heirs)
    inputs = replace(known, after=after, gone=gone)
    both = tuple(join_lists(each) for each in zip(inputs.after, inputs.before, strict=True))
    return Earlier(was.epoch, past, inputs, heirs, replace(inputs, after=both))
