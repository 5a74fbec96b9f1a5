"""The state of the general algorithm of the sticky assignors."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from udfs.assignors.java.iteration_order import Positions
from udfs.assignors.questions.partition_numbers import NumberedTopics

# A member by its size, its place by id, and its number.
Entry = tuple[int, int, int]


@dataclass
class State:
    """Who has what while the general algorithm runs. Members are numbered as Kafka walks them.

    `kept` are the partitions that stay with their `keepers`, `free` the others. A kept partition that its topic does
    not have gets a number after all existing ones; `topic_of` knows it too. `audience_of` a partition is the number of
    its set of subscribers.
    """

    topics: NumberedTopics
    id_ranks: list[int]
    sizes: list[int]
    owner: list[int]
    kept: Positions
    keepers: Positions
    free: Positions
    topic_of: Positions
    audience_of: list[int]
    audiences: Sequence[list[int]]
    is_strange: bool
    to_give: list[int]
    given: list[int] = field(default_factory=list)
    receivers: list[int] = field(default_factory=list)

    def entry(self, member: int) -> Entry:
        return self.sizes[member], self.id_ranks[member], member

    def take(self, number: int, member: int) -> None:
        self.sizes[member] += 1
        self.owner[number] = member
        self.given.append(number)
        self.receivers.append(member)


def heaps_of(state: State, audiences: Sequence[list[int]]) -> list[list[Entry]]:
    heaps = [[state.entry(member) for member in audience] for audience in audiences]
    for heap in heaps:
        heapq.heapify(heap)
    return heaps
