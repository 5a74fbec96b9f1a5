"""Kafka's RoundRobinAssignor."""

from collections.abc import Sequence

from udfs.assignors.client.kernels import roundrobin_rows
from udfs.assignors.flat_groups.client_groups import ClientGroups
from udfs.assignors.flat_groups.groups import answer_together, split_by_group
from udfs.assignors.questions.problems import Answer, Assignment, Problem


def roundrobins(problems: Sequence[Problem]) -> list[Answer]:
    return answer_together(problems, in_circles)


def in_circles(problems: Sequence[Problem]) -> list[Assignment]:
    groups = ClientGroups(problems)
    members, topics, partitions, ends = roundrobin_rows(
        groups.sizes([(0,)] * len(problems)),
        groups.statically_sorted,
        groups.topics_by_name,
        groups.classes,
        *groups.lists,
        groups.counts,
    )
    return split_by_group(members, topics, partitions, ends.tolist())
