"""The columns of consumer groups, for loops that answer many at once."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.flat_groups.groups import FlatGroups, split_by_group
from udfs.assignors.java.iteration_order import dense_ranks, string_hashes, with_ranks
from udfs.assignors.questions.problems import Assignment, Codes, Numbers
from udfs.assignors.questions.server_problems import ServerProblem

# From this line of Java on a copied set is made for what it copies.
FIRST_JDK_OF_NEW_COPIES = 19
# KAFKA-18688: before, the first members of the walk got the larger shares, whether they had them or not.
KEEPS_LARGER_SHARES = (4, 0, 1)
# What a loop is given that changes the members' targets, besides sizes and lists.
CHANGED = attrgetter("class_of_member", "counts", "ids", "targets.members", "targets.topics", "targets.partitions")


class ServerGroups(FlatGroups[ServerProblem]):
    @property
    def sizes_and_rules(self) -> Numbers:
        """By group, in the columns of udfs/assignors/server/walks/kernels.py."""
        return self.sizes(
            (
                len(each.targets),
                each.jdk >= FIRST_JDK_OF_NEW_COPIES,
                each.release >= KEEPS_LARGER_SHARES,
                each.is_homogeneous,
            )
            for each in self.problems
        )

    @property
    def ids(self) -> NDArray[np.int64]:
        return self.column(lambda problem: problem.ids)

    @property
    def ranks_of_names_and_ids(self) -> list[int]:
        """String.compareTo among the names, then Uuid.compareTo among the ids."""
        ids = [tuple(each) for each in self.ids.tolist()]
        return [*self.ranks_of_topics, *dense_ranks(ids)]

    def answers(self, rows_of: Callable[..., Any], *more_columns: Codes) -> tuple[list[Assignment], Sequence[int]]:
        """Of a loop that walks members and changes their targets; and by group why it fails, 0: it does not."""
        sizes, (classes, *others) = self.sizes_and_rules, self.columns(CHANGED)
        hashes = string_hashes([*self.members, *self.topics])
        members, topics, partitions, ends, failures, _ = with_ranks(
            lambda ranks: rows_of(sizes, classes, *self.lists, *others, *more_columns, hashes, ranks),
            lambda: [*self.ranks_of_members, *self.ranks_of_names_and_ids],
        )
        return split_by_group(members, topics, partitions, ends.tolist()), failures.tolist()
