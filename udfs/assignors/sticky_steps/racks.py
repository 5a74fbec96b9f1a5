"""Racks in the sticky assignors (from 3.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, ranks
from udfs.assignors.questions.problems import Codes, Numbers, Problem, Rows
from udfs.assignors.questions.racks import NO_RACKS, partition_racks, racks_matter
from udfs.assignors.sticky_steps.release_rules import rules_of

Dealt = tuple[Positions, Positions, Positions, Positions, Positions]


@dataclass(frozen=True)
class Racks:
    """Partitions are numbered topic by topic in the order given; members as Kafka walks them.

    `near`: how many members are in the racks of a partition's replicas. It sorts even where racks are not used.
    """

    are_used: bool
    of_member: list[str | None]
    of_partition: list[frozenset[str]]
    near: Numbers
    walk: Positions
    starts: Numbers
    counts: Numbers

    def are_far(self, rows: Rows) -> NDArray[np.bool_]:
        """Rows whose member names a rack that has no replica."""
        starts, counts = self.starts[rows.topics].tolist(), self.counts[rows.topics].tolist()
        members = self.walk[rows.members].tolist()
        return np.array(
            [
                # A partition that the topic does not have is near nobody.
                self.is_far(member, self.of_partition[start + at] if 0 <= at < count else NO_RACKS)
                for member, start, count, at in zip(members, starts, counts, rows.partitions.tolist(), strict=True)
            ],
            np.bool_,
        )

    def is_far(self, member: int, racks: frozenset[str]) -> bool:
        rack = self.of_member[member]
        return rack is not None and rack not in racks


def racks_of(problem: Problem, order: Codes) -> Racks | None:
    """None where no member names a rack."""
    if not any(problem.racks) or not rules_of(problem.release).has_racks:
        return None
    of_partition: list[frozenset[str]] = []
    starts = np.zeros(len(problem.topics), np.int64)
    for topic in order.tolist():
        stated = problem.partition_racks[topic] if problem.partition_racks else None
        starts[topic] = len(of_partition)
        of_partition += partition_racks(stated, int(problem.counts[topic]))
    members: dict[str, int] = {}
    for rack in problem.racks:
        if rack:
            members[rack] = members.get(rack, 0) + 1
    near = np.array([sum(members.get(rack, 0) for rack in racks) for racks in of_partition], np.int64)
    are_used = racks_matter(members.keys(), of_partition)
    of_member = [problem.racks[m] or None for m in problem.walked.tolist()]
    return Racks(are_used, of_member, of_partition, near, ranks(problem.walked), starts, problem.counts)


def deal_by_racks(
    racks: Racks,
    numbers: Positions,
    under: Positions,
    exact: Positions,
    held: Numbers,
    num_full: int,
    least: int,
    extra: int,
    counts_full: bool,
) -> Dealt:
    """Gives what it can to members that are near: partitions, receivers, what is left, who is left under and exact."""
    below, even, counts = under.tolist(), exact.tolist(), held.tolist()
    most = least + (extra > 0)
    given, receivers, left = [], [], []
    turn = 0
    for number in numbers.tolist():
        near = racks.of_partition[number]
        found = next_near(racks, near, below, turn)
        if found >= 0:
            member = below[found]
            counts[member] += 1
            if counts[member] >= least:
                below.pop(found)
                if counts[member] < most and (num_full < extra or not counts_full):
                    even.append(member)
            else:
                found += 1
            turn = found % len(below) if below else 0
        else:
            found = next_near(racks, near, even, 0)
            if found < 0:
                left.append(number)
                continue
            member = even[found]
            counts[member] += 1
            if counts[member] == most:
                even.pop(found)
                num_full += 1
                if num_full == extra and counts_full:
                    even.clear()
        given.append(number)
        receivers.append(member)
    return tuple(np.array(each, np.intp) for each in (given, receivers, left, below, even))  # type: ignore[return-value]


def next_near(racks: Racks, near: frozenset[str], members: list[int], first: int) -> int:
    for step in range(len(members) if near else 0):
        at = (first + step) % len(members)
        if racks.of_member[members[at]] in near:
            return at
    return -1
