"""Compares a group's value with the next: which members are the same, what they kept, and what moved."""

from collections.abc import Sequence

import numpy as np

from udfs.assignors.groups import NOBODY, Codes, Rows
from udfs.audit.checks.results import GONE, are_equal
from udfs.audit.classic.generations import NO_ROWS, Generation


def are_carried_over(before: Generation, now: Generation) -> bool:
    """The same generation with the same lists: a static member came back, and no assignor ran."""
    if before.number != now.number or len(before.members) != len(now.members):
        return False
    same = successors(before, now)
    if GONE in same or len(set(same)) < len(same):
        return False
    moved = np.array(same, np.int32)[before.assigned.members]
    rows = beside(before, now, before.assigned)
    order = np.argsort(moved, kind="stable")
    return rows is not None and are_equal(Rows(moved, rows.topics, rows.partitions).take(order), now.assigned)


def are_alike(before: Generation, now: Generation) -> bool:
    """The same members with the same lists, apart from the generation."""
    return (
        list(before.members) == list(now.members)
        and list(before.topics) == list(now.topics)
        and are_equal(before.assigned, now.assigned)
    )


def successors(before: Generation, now: Generation) -> Sequence[int]:
    """For each member before, its position now, by its id or else its static id; GONE if it left."""
    if before.members == now.members:
        return range(len(now.members))
    places = {member: at for at, member in enumerate(now.members)}
    statics = {instance: at for at, instance in enumerate(now.instances) if instance is not None}
    return [
        places[member] if member in places else statics.get(instance, GONE) if instance is not None else GONE
        for member, instance in zip(before.members, before.instances, strict=True)
    ]


def beside(before: Generation, now: Generation, rows: Rows) -> Rows | None:
    """Rows with the numbers that topics have now; None if one of them is not among the topics now."""
    if before.topics == now.topics:
        return rows
    topics = topics_of_now(before, now)[rows.topics]
    return None if (topics == NOBODY).any() else Rows(rows.members, topics, rows.partitions)


def topics_of_now(before: Generation, now: Generation) -> Codes:
    places = {name: at for at, name in enumerate(now.topics)}
    return np.array([places.get(name, NOBODY) for name in before.topics], np.int32)


def owned_before(before: Generation, now: Generation) -> Rows:
    """What members of the value before had, in the numbers of now; GONE: a member that left."""
    rows = before.assigned
    if before.topics != now.topics:
        topics = topics_of_now(before, now)[rows.topics]
        is_known = topics != NOBODY
        rows = Rows(rows.members[is_known], topics[is_known], rows.partitions[is_known])
    same = successors(before, now)
    if not isinstance(same, range):
        members = np.array(same, np.int32)[rows.members] if len(rows) else NO_ROWS.members
        rows = Rows(members, rows.topics, rows.partitions)
    return rows
