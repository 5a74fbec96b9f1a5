"""Compares a recorded assignment with the one that an assignor gives."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.words.assignments import Verdict
from udfs.assignors.groups import Rows
from udfs.audit.checks.audit_results import MOST_DIFFERENCES, Difference

PARTITION_BITS = 32


@dataclass(frozen=True)
class Comparison:
    verdict: Verdict
    num_different: int = 0
    differences: tuple[Difference, ...] = ()


def compare(
    members: Sequence[str], topics: Sequence[str], recorded: Rows, expected: Rows, has_order: bool = True
) -> Comparison:
    """Rows name members and topics by their positions in these, each member's in the order of its list. `has_order`:
    whether the order of the assignor, and so of the record, is determined."""
    recorded, expected = by_member(recorded), by_member(expected)
    if are_equal(recorded, expected) or are_equal(recorded, by_member(group_by_topic(expected))):
        return Comparison(Verdict.SAME)
    ours, theirs = set(tuples(recorded)), set(tuples(expected))
    if len(recorded) == len(expected) and ours == theirs:
        return Comparison(Verdict.SAME_MEMBERS_OTHER_ORDER if has_order else Verdict.SAME)
    partitions = sorted(
        {each[1:] for each in (ours ^ theirs) | repeated_partitions(recorded)},
        key=lambda each: (topics[each[0]], each[1]),
    )
    has, should = owners_of(ours), owners_of(theirs)
    differences = tuple(
        Difference(topics[topic], partition, *owners((topic, partition), has, should, members))
        for topic, partition in partitions[:MOST_DIFFERENCES]
    )
    return Comparison(Verdict.DRIFT, len(partitions), differences)


def by_member(rows: Rows) -> Rows:
    if (rows.members[1:] >= rows.members[:-1]).all():
        return rows
    return rows.take(np.argsort(rows.members, kind="stable"))


def group_by_topic(rows: Rows) -> Rows:
    """As lists are written: a member's topics in the order in which they first appear in its list, each with all its
    partitions."""
    keys = rows.members.astype(np.int64) << PARTITION_BITS | rows.topics
    num_stretches = np.count_nonzero(keys[1:] != keys[:-1]) + 1
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if num_stretches == max(1, len(first)):
        return rows
    return rows.take(np.argsort(first[which], kind="stable"))


def are_equal(ours: Rows, theirs: Rows) -> bool:
    return (
        len(ours) == len(theirs)
        and np.array_equal(ours.members, theirs.members)
        and np.array_equal(ours.topics, theirs.topics)
        and np.array_equal(ours.partitions, theirs.partitions)
    )


def tuples(rows: Rows) -> list[tuple[int, int, int]]:
    return list(zip(rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True))


def repeated_partitions(rows: Rows) -> set[tuple[int, int, int]]:
    """Partitions that a member's list names twice."""
    seen: set[tuple[int, int, int]] = set()
    return {each for each in tuples(rows) if each in seen or seen.add(each)}  # type: ignore[func-returns-value]


def owners(
    partition: tuple[int, int],
    ours: Mapping[tuple[int, int], set[int]],
    theirs: Mapping[tuple[int, int], set[int]],
    members: Sequence[str],
) -> tuple[str | None, str | None]:
    """A member that has it and should not, and a member that should have it and does not; if there is no such member,
    any that has it."""
    has, should = ours.get(partition, set()), theirs.get(partition, set())
    recorded = min(has - should or has, default=None)
    expected = min(should - has or should, default=None)
    return None if recorded is None else members[recorded], None if expected is None else members[expected]


def owners_of(tuples_: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int], set[int]]:
    by_partition: dict[tuple[int, int], set[int]] = {}
    for member, topic, partition in tuples_:
        by_partition.setdefault((topic, partition), set()).add(member)
    return by_partition
