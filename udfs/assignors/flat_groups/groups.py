"""The columns that groups of leaders and of coordinators have in common."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import dense_ranks, java_sort_keys
from udfs.assignors.questions.problems import Answer, Assignment, AssignorFailed, Codes, Numbers, Problem, Rows
from udfs.assignors.questions.server_problems import ServerProblem

Column = TypeVar("Column", bound=np.generic)
Asked = TypeVar("Asked", Problem, ServerProblem)
Item = TypeVar("Item")
# So many members at a time stay in the processor's cache.
MEMBERS_AT_ONCE = 20_000


class FlatGroups(Generic[Asked]):
    """Members, topics and classes are numbered within their group."""

    def __init__(self, problems: Sequence[Asked]) -> None:
        self.problems: Sequence[Asked] = problems
        # Lists, not cached properties: these lock, which takes a tenth of the time of a small group.
        self.members: Sequence[str] = one_after_another([problem.members for problem in problems])
        self.topics: Sequence[str] = one_after_another([problem.topics for problem in problems])

    def sizes(self, others: Iterable[tuple[int, ...]]) -> Numbers:
        """By group, in the columns of udfs/assignors/flat_groups/kernels.py; `others` are those from ROWS on."""
        own = map(sizes_of, self.problems)
        return np.array([mine + more for mine, more in zip(own, others, strict=True)], np.int64)

    @property
    def classes(self) -> Codes:
        return self.column(lambda problem: problem.class_of_member)

    @property
    def lists(self) -> tuple[Numbers, Codes]:
        """The lists of topics of the classes: their sizes, and the topics."""
        lists = one_after_another([problem.topics_of_class for problem in self.problems])
        return np.array(list(map(len, lists)), np.int64), in_one(lists) if lists else np.empty(0, np.int32)

    @property
    def counts(self) -> Numbers:
        return self.column(lambda problem: problem.counts)

    def rows(self, of: Callable[[Asked], Rows]) -> tuple[Codes, Codes, Codes]:
        return (
            self.column(lambda problem: of(problem).members),
            self.column(lambda problem: of(problem).topics),
            self.column(lambda problem: of(problem).partitions),
        )

    def column(self, of: Callable[[Asked], NDArray[Column]]) -> NDArray[Column]:
        return in_one([of(problem) for problem in self.problems])

    def columns(self, of: Callable[[Asked], tuple[NDArray[Any], ...]]) -> list[NDArray[Any]]:
        """Several at once: that takes less time where a group is small."""
        return list(map(in_one, zip(*map(of, self.problems), strict=True)))

    @property
    def ranks_of_members(self) -> list[int]:
        """String.compareTo among them."""
        return dense_ranks(java_sort_keys(self.members))

    @property
    def ranks_of_topics(self) -> list[int]:
        return dense_ranks(java_sort_keys(self.topics))


def sizes_of(problem: Problem | ServerProblem) -> tuple[int, int, int, int]:
    lists = problem.topics_of_class
    return len(problem.members), len(problem.topics), len(lists), sum(map(len, lists))


def in_one(columns: Sequence[NDArray[Column]]) -> NDArray[Column]:
    """One that is as loops take it stays itself, since no loop writes to it: a copy takes time that counts where a
    group is small."""
    return columns[0] if len(columns) == 1 and columns[0].flags.carray else np.concatenate(columns)


def one_after_another(lists: Sequence[Sequence[Item]]) -> Sequence[Item]:
    return lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))


def split_by_group(members: Codes, topics: Codes, partitions: Codes, ends: Sequence[int]) -> list[Assignment]:
    """The rows of one group after another, group by group."""
    if len(ends) == 1:
        return [Rows(members, topics, partitions)]
    starts = [0, *ends[:-1]]
    return [
        Rows(members[start:end], topics[start:end], partitions[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def answer_most_together(
    problems: Sequence[Asked],
    together: Callable[[Sequence[Asked]], Sequence[Answer]],
    goes_alone: Callable[[Asked], bool],
    alone: Callable[[Asked], Assignment],
) -> list[Answer]:
    """What an assignor answers to each, in the same order; where it fails, its exception."""
    are_alone = list(map(goes_alone, problems))
    if not any(are_alone):
        return answer_together(problems, together)
    of_some = [one(alone, problem) if is_alone else None for problem, is_alone in zip(problems, are_alone, strict=True)]
    others = [problem for problem, answer in zip(problems, of_some, strict=True) if answer is None]
    of_others = iter(answer_together(others, together))
    return [next(of_others) if answer is None else answer for answer in of_some]


def answer_together(problems: Sequence[Asked], together: Callable[[Sequence[Asked]], Sequence[Answer]]) -> list[Answer]:
    """The same, some problems at a time."""
    answers: list[Answer] = []
    some: list[Asked] = []
    members = 0
    for problem in problems:
        some.append(problem)
        members += len(problem.members)
        if members >= MEMBERS_AT_ONCE:
            answers += together(some)
            some, members = [], 0
    return [*answers, *together(some)] if some else answers


def one(assign: Callable[[Asked], Assignment], problem: Asked) -> Answer:
    try:
        return assign(problem)
    except AssignorFailed as failure:
        return failure


def only_answer(answers: Sequence[Answer]) -> Assignment:
    """The only answer."""
    (answer,) = answers
    if isinstance(answer, AssignorFailed):
        raise answer
    return answer
