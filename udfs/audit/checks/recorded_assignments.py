"""Many recorded assignments one after another in arrays, so that each check runs on all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import Codes, Numbers, Positions, Rows

# The number of partitions of the topic is unknown. 0 means that the topic does not exist.
UNKNOWN: Final = -1
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RecordedAssignment:
    """One assignment. Members with equal subscriptions share a class, as in an assignor's problem. `rows` name members
    and topics by their positions here, in the order of the record."""

    members: Sequence[str]
    topics: Sequence[str]
    counts: Numbers
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    rows: Rows


@dataclass(frozen=True)
class Assignments:
    """Members, topics and classes have numbers that are unique across all assignments; `rows` use these numbers."""

    member_starts: Positions
    topic_starts: Positions
    counts: Numbers
    class_of_member: Positions
    # Pairs: the topics each class subscribes to.
    class_of_subscription: Positions
    topic_of_subscription: Positions
    rows: Rows

    def __len__(self) -> int:
        return len(self.member_starts) - 1

    @cached_property
    def of_member(self) -> Positions:
        """The assignment of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.member_starts))

    @cached_property
    def of_topic(self) -> Positions:
        return np.repeat(np.arange(len(self)), np.diff(self.topic_starts))

    @cached_property
    def of_row(self) -> Positions:
        return self.of_member[self.rows.members]

    @cached_property
    def is_subscribed(self) -> Flags:
        """Topics that some member subscribes to."""
        is_subscribed = np.zeros(len(self.counts), np.bool_)
        is_subscribed[self.topic_of_subscription] = True
        return is_subscribed

    @cached_property
    def sizes(self) -> Numbers:
        """How many partitions each member has."""
        return np.bincount(self.rows.members, minlength=len(self.class_of_member)).astype(np.int64)

    @cached_property
    def starts(self) -> Numbers:
        """The number of the first partition of each topic, if all partitions that are known to exist are numbered
        consecutively."""
        known = np.maximum(self.counts, 0)
        return np.cumsum(known) - known

    @cached_property
    def num_places(self) -> int:
        return int(np.maximum(self.counts, 0).sum())

    @cached_property
    def exists(self) -> Flags:
        """For each row, whether its topic is known to have this partition."""
        return np.asarray(
            (self.rows.partitions >= 0) & (self.rows.partitions < self.counts[self.rows.topics]), dtype=np.bool_
        )

    @cached_property
    def times_owned(self) -> Numbers:
        """The number of owners, by place."""
        rows = self.rows if self.exists.all() else self.rows.take(self.exists)
        return np.bincount(self.starts[rows.topics] + rows.partitions, minlength=self.num_places).astype(np.int64)

    @cached_property
    def topic_of_place(self) -> Positions:
        return np.repeat(np.arange(len(self.counts)), np.maximum(self.counts, 0))

    @cached_property
    def classes_of(self) -> Numbers:
        """How many different subscriptions each assignment has."""
        first = np.unique(self.class_of_member, return_index=True)[1]
        return np.bincount(self.of_member[first], minlength=len(self)).astype(np.int64)

    def sums(self, flags: NDArray[np.generic], of: Positions) -> Numbers:
        """Sums by assignment."""
        return np.bincount(of, weights=flags, minlength=len(self)).astype(np.int64)

    def any_of(self, flags: Flags, of: Positions) -> Flags:
        has_flag = np.zeros(len(self), np.bool_)
        has_flag[of[flags]] = True
        return has_flag


def assignments_of(recorded: Sequence[RecordedAssignment]) -> Assignments:
    members = starts_of([len(each.members) for each in recorded])
    topics = starts_of([len(each.topics) for each in recorded])
    classes = starts_of([len(each.topics_of_class) for each in recorded])
    sizes = [len(listed) for each in recorded for listed in each.topics_of_class]
    class_numbers = np.arange(len(sizes))
    return Assignments(
        member_starts=members,
        topic_starts=topics,
        counts=together([each.counts for each in recorded]),
        class_of_member=shift_and_join([each.class_of_member for each in recorded], classes),
        class_of_subscription=np.repeat(class_numbers, sizes),
        topic_of_subscription=together(
            list(chain.from_iterable(
                (listed + start for listed in each.topics_of_class)
                for each, start in zip(recorded, topics.tolist(), strict=False)
            ))
        ),
        rows=Rows(
            shift_and_join([each.rows.members for each in recorded], members).astype(np.int32),
            shift_and_join([each.rows.topics for each in recorded], topics).astype(np.int32),
            together([each.rows.partitions for each in recorded]).astype(np.int32),
        ),
    )  # fmt: skip


def starts_of(sizes: Sequence[int]) -> Positions:
    """Where each begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.intp)]).astype(np.intp)


def together(arrays: Sequence[NDArray[np.integer]]) -> Positions:
    return np.concatenate(arrays).astype(np.intp) if arrays else np.empty(0, np.intp)


def shift_and_join(arrays: Sequence[NDArray[np.integer]], starts: Positions) -> Positions:
    return together(arrays) + np.repeat(starts[: len(arrays)], [len(each) for each in arrays])
