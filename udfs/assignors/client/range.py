"""Kafka's client-side RangeAssignor."""

from collections.abc import Sequence

from udfs.assignors.client.kernels import range_rows
from udfs.assignors.client.range_racks import needs_racks, range_by_racks
from udfs.assignors.flat_groups.client_groups import ClientGroups
from udfs.assignors.flat_groups.groups import answer_most_together, split_by_group
from udfs.assignors.java.iteration_order import string_hashes, with_ranks
from udfs.assignors.questions.problems import Answer, Assignment, Problem

RACKS_SINCE = (3, 5, 0)


def client_ranges(problems: Sequence[Problem]) -> list[Answer]:
    return answer_most_together(problems, ranges, by_racks, range_by_racks)


def by_racks(problem: Problem) -> bool:
    # Most groups have no racks.
    has_racks = problem.release >= RACKS_SINCE and problem.partition_racks is not None
    return has_racks and bool(needs_racks(problem).any())


def ranges(problems: Sequence[Problem]) -> list[Assignment]:
    groups = ClientGroups(problems)
    sizes = groups.sizes((0, each.release >= RACKS_SINCE) for each in problems)
    hashes, order = string_hashes([*groups.members, *groups.topics]), groups.statically_sorted
    members, topics, partitions, ends, _ = with_ranks(
        lambda ranks: range_rows(sizes, order, groups.classes, *groups.lists, groups.counts, hashes, ranks),
        lambda: [*groups.ranks_of_members, *groups.ranks_of_topics],
    )
    return split_by_group(members, topics, partitions, ends.tolist())
