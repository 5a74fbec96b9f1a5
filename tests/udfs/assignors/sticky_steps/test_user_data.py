"""The user data of many members read together, against each read by itself."""

import numpy as np

from tests.builders.assignors.client_cases import sticky_data
from udfs.assignors.questions.problems import ABSENT
from udfs.assignors.sticky_steps.member_data import previous_assignment
from udfs.assignors.sticky_steps.user_data import Lists, read_together

# Names that differ in the middle alone, at either end, in length; one is the start of another.
NAMES = ["t", "to", "orders-1", "orders-11", "a-rather-long-name-1-with-a-tail", "a-rather-long-name-2-with-a-tail"]


def said_by(lists: Lists, member: int) -> dict[str, list[int]]:
    said: dict[str, list[int]] = {}
    ends = np.cumsum(lists.sizes)
    for at in np.flatnonzero(lists.members == member).tolist():
        of_topic = lists.partitions[ends[at] - lists.sizes[at] : ends[at]].tolist()
        said.setdefault(NAMES[lists.topics[at]], []).extend(of_topic)
    return said


def assert_read_alike(data: list[bytes | None]) -> None:
    together = read_together(data, NAMES)
    assert together is not None
    for member, each in enumerate(data):
        owned, generation = previous_assignment(each)
        alone: dict[str, list[int]] = {}
        for topic, partitions in owned:
            if topic in NAMES:
                alone.setdefault(topic, []).extend(partitions)
        assert said_by(together, member) == alone, each
        assert together.generations[member] == (ABSENT if generation is None else generation), each


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


def test_data_with_any_byte_altered_says_together_what_it_says_alone(rng: np.random.Generator) -> None:
    whole = sticky_data({name: [1, 2] for name in NAMES}, 5)
    data: list[bytes | None] = []
    for at in range(len(whole)):
        for value in (0, 1, 127, 128, 255):
            data.append(whole[:at] + bytes([value]) + whole[at + 1 :])
    assert_read_alike([*data, *(some_data(rng) for _ in range(20))])
