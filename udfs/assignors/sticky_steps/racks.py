"""Racks in the sticky assignors (from 3.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, ranks
from udfs.assignors.questions.problems import Codes, Numbers, Problem, Rows
from udfs.assignors.questions.racks import NO_RACKS, partition_racks, racks_matter
from udfs.assignors.sticky_steps.release_rules import rules_of


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
    return Racks(
        are_used=are_used,
        of_member=of_member,
        of_partition=of_partition,
        near=near,
        walk=ranks(problem.walked),
        starts=starts,
        counts=problem.counts,
    )
