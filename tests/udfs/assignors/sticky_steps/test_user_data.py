"""The user data of many members read together, against each read by itself."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from tests.builders.assignors.client_cases import sticky_data
from udfs.assignors.questions.problems import ABSENT, Numbers, Rows
from udfs.assignors.sticky_steps.member_data import previous_assignment
from udfs.assignors.sticky_steps.user_data import read_together

# Names that differ in the middle alone, at either end, in length; one is the start of another.
NAMES = ["t", "to", "orders-1", "orders-11", "a-rather-long-name-1-with-a-tail", "a-rather-long-name-2-with-a-tail"]


def said_by(rows: Rows, member: int) -> dict[str, list[int]]:
    said: dict[str, list[int]] = {}
    for at in np.flatnonzero(rows.members == member).tolist():
        said.setdefault(NAMES[rows.topics[at]], []).append(int(rows.partitions[at]))
    return said


def read_as_one_group(data: Sequence[bytes | None]) -> tuple[Rows, Numbers]:
    together = read_together(data, NAMES, [len(data)], [len(NAMES)])
    assert together is not None
    rows, sizes, generations = together
    assert sizes.tolist() == [len(rows)]
    return rows, generations


def assert_read_alike(data: list[bytes | None]) -> None:
    rows, generations = read_as_one_group(data)
    for member, each in enumerate(data):
        owned, generation = previous_assignment(each)
        alone: dict[str, list[int]] = {}
        for topic, partitions in owned:
            if topic in NAMES and partitions:
                alone.setdefault(topic, []).extend(partitions)
        assert said_by(rows, member) == alone, each
        assert generations[member] == (ABSENT if generation is None else generation), each


def some_data(rng: np.random.Generator) -> bytes:
    topics = rng.permutation([*NAMES, "gone", "a-rather-long-name-3-with-a-tail"])[: rng.integers(8)]
    owned = {str(topic): rng.integers(0, 100, rng.integers(5)).tolist() for topic in topics}
    return sticky_data(owned, int(rng.integers(10)) if rng.random() < 0.8 else None)


def test_many_members_are_read_as_each_alone(rng: np.random.Generator) -> None:
    assert_read_alike([some_data(rng) if rng.random() < 0.9 else None for _ in range(400)])


def test_few_members_are_read_as_each_alone(rng: np.random.Generator) -> None:
    for count in range(12):
        assert_read_alike([some_data(rng) for _ in range(count)])


def test_data_that_ends_anywhere_says_together_what_it_says_alone(rng: np.random.Generator) -> None:
    whole = sticky_data({name: [1, 2] for name in NAMES}, 5)
    assert_read_alike([whole[:end] for end in range(len(whole) + 1)] + [some_data(rng) for _ in range(20)])


def altered_data() -> list[bytes | None]:
    whole = sticky_data({name: [1, 2] for name in NAMES}, 5)
    return [
        whole[:at] + bytes([value]) + whole[at + 1 :] for at in range(len(whole)) for value in (0, 1, 127, 128, 255)
    ]


def test_data_with_any_byte_altered_says_together_what_it_says_alone(rng: np.random.Generator) -> None:
    assert_read_alike([*altered_data(), *(some_data(rng) for _ in range(20))])


def test_groups_read_together_are_read_as_each_alone(rng: np.random.Generator) -> None:
    """A name counts where the member's own group has it, under the number that it has there."""
    data = [[some_data(rng) for _ in range(rng.integers(6))] for _ in range(40)]
    names = [[str(name) for name in rng.permutation(NAMES)[: rng.integers(len(NAMES) + 1)]] for _ in data]
    together = read_together([*chain(*data)], [*chain(*names)], [*map(len, data)], [*map(len, names)])
    assert together is not None
    rows, sizes, generations = together
    ends, members = np.cumsum(sizes), np.cumsum([0, *map(len, data)])
    for group, (of_group, known) in enumerate(zip(data, names, strict=True)):
        own = slice(int(ends[group] - sizes[group]), int(ends[group]))
        result = [
            (member, known[topic], partition)
            for member, topic, partition in zip(
                rows.members[own].tolist(), rows.topics[own].tolist(), rows.partitions[own].tolist(), strict=True
            )
        ]
        alone = [previous_assignment(each) for each in of_group]
        assert result == [
            (member, topic, partition)
            for member, (owned, _) in enumerate(alone)
            for topic, partitions in owned
            for partition in partitions
            if topic in known
        ]
        said = [ABSENT if generation is None else generation for _, generation in alone]
        assert generations[members[group] : members[group + 1]].tolist() == said
