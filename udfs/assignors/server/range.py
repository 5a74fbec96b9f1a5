"""The coordinator's `range`: each subscriber of a topic gets one range of partitions, static members first, then by
id."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import numpy as np

from udfs.assignors.flat_groups.groups import answer_together, split_by_group
from udfs.assignors.java.iteration_order import string_hashes, with_ranks
from udfs.assignors.questions.member_order import statically_sorted
from udfs.assignors.questions.problems import Answer, Assignment
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.groups import ServerGroups
from udfs.assignors.server.ranges.kernels import range_rows

DEALT = attrgetter("class_of_member", "counts", "ids")


def server_ranges(problems: Sequence[ServerProblem]) -> list[Answer]:
    return answer_together(problems, ranges)


def ranges(problems: Sequence[ServerProblem]) -> list[Assignment]:
    groups = ServerGroups(problems)
    orders = [statically_sorted(each.members, each.instances, partial(getattr, each, "walked")) for each in problems]
    order = orders[0] if len(orders) == 1 else np.concatenate(orders)
    hashes = string_hashes(groups.topics)
    sizes, (classes, counts, ids) = groups.sizes_and_rules, groups.columns(DEALT)
    members, topics, partitions, ends, _ = with_ranks(
        lambda ranks: range_rows(sizes, order, classes, *groups.lists, counts, ids, hashes, ranks),
        lambda: groups.ranks_of_names_and_ids,
    )
    return split_by_group(members, topics, partitions, ends.tolist())
