"""Folders under another offsets partition's number, found by their groups."""

from collections.abc import Iterable

import numpy as np
import pytest

from udfs.groups.misplaced_folders import ENOUGH_GROUPS, Folder, Folders


def java_partition(group: str, number: int) -> int:
    """kafka.utils: abs(hashCode) % partitions."""
    value = 0
    for letter in group:
        value = (31 * value + ord(letter)) % 2**32
    return abs(value - 2**32 if value >= 2**31 else value) % number


def topic(number: int, num_groups: int, most: int = ENOUGH_GROUPS) -> dict[int, list[str]]:
    """Groups by their partition, as a topic of so many partitions has them."""
    found: dict[int, list[str]] = {}
    for each in range(num_groups):
        found.setdefault(java_partition(f"group-{each}", number), []).append(f"group-{each}")
    return {partition: groups[:most] for partition, groups in found.items()}


def folders(groups: dict[int, list[str]], names: Iterable[tuple[int, int]] = ()) -> Folders:
    """`names`: number of a folder, and the partition that is in it; all others hold their own."""
    by_name = {partition: partition for partition in groups} | dict(names)
    return Folders([Folder(f"f-{name}", name, tuple(groups[partition])) for name, partition in sorted(by_name.items())])


@pytest.mark.parametrize("number", [3, 8, 50, 64, 100, 1_000])
def test_groups_show_how_many_partitions_there_are(number: int) -> None:
    found = folders(topic(number, 20 * number if number < 100 else 400))
    assert found.number() == number
    assert list(found.misplaced(number)) == []


def test_a_number_that_fits_all_folders_is_right_where_a_lower_one_fits_most() -> None:
    """Half as many partitions fit the folders of the lower half."""
    groups = topic(8, 80)
    found = folders({partition: groups[partition] for partition in (1, 3, 6)})
    assert found.number() == 8
    assert list(found.misplaced(8)) == []


@pytest.mark.parametrize("number", [8, 50, 64])
@pytest.mark.parametrize("name", [2, 70, 12_345])
def test_a_folder_under_another_number_is_found_with_the_right_one(number: int, name: int) -> None:
    groups = topic(number, 10 * number)
    moved = {partition: some for partition, some in groups.items() if partition not in (1, name)} | {-1: groups[1]}
    found = folders({partition: some for partition, some in moved.items() if partition >= 0} | {name: groups[1]})
    assert found.number() == number
    assert [(folder.name, partition) for folder, partition in found.misplaced(number)] == [(f"f-{name}", 1)]


def test_two_folders_that_changed_places_are_both_found() -> None:
    found = folders(topic(8, 80), [(1, 2), (2, 1)])
    assert found.number() == 8
    assert [(folder.name, partition) for folder, partition in found.misplaced(8)] == [("f-1", 2), ("f-2", 1)]


def test_snapshots_say_what_the_groups_of_one_folder_do_not() -> None:
    alone = Folders([Folder("f-2", 2, tuple(topic(8, 80)[1]))])
    assert alone.number() is None
    assert [(folder.name, partition) for folder, partition in alone.misplaced(8)] == [("f-2", 1)]


def test_one_group_that_belongs_there_is_enough() -> None:
    groups = topic(8, 80)
    found = folders({**groups, 2: [*groups[1], groups[2][0]]})
    assert list(found.misplaced(8)) == []


def test_two_groups_are_too_few() -> None:
    groups = topic(8, 80)
    assert list(folders({**groups, 2: groups[1][:2]}).misplaced(8)) == []


def test_after_the_number_was_changed_nothing_is_misplaced() -> None:
    """Each folder below 8 holds groups that belong there, and groups that were there before."""
    before, after = topic(8, 80, most=99), topic(16, 80, most=99)
    mixed = {partition: [*before.get(partition, ()), *after[partition]][:ENOUGH_GROUPS] for partition in after}
    # One of them happens to hold only such as have gone.
    mixed[0] = [group for group in before[0] if java_partition(group, 16) == 8][:4]
    assert len(mixed[0]) >= 3
    found = folders(mixed)
    assert list(found.misplaced(16)) == []
    assert found.number() is None


def test_random_folders_show_no_number(rng: np.random.Generator) -> None:
    """As where groups are in folders that no hash leads to."""
    sure = 0
    for _ in range(200):
        names = [f"g{each}" for each in rng.integers(0, 10**9, 12)]
        some = [Folder(f"f-{place}", place, tuple(names[3 * place : 3 * place + 3])) for place in range(4)]
        sure += Folders(some).number() is not None
    assert sure <= 2


def test_a_number_that_fits_by_chance_is_not_believed() -> None:
    """Nine groups of which three are in each of three folders fit two partitions once in hundreds of cases."""
    even, odd = ([f"g{each}" for each in range(99) if java_partition(f"g{each}", 2) == half] for half in (0, 1))
    chance = Folders(
        [Folder("f-0", 0, tuple(even[:3])), Folder("f-1", 1, tuple(odd[:3])), Folder("f-2", 2, tuple(even[3:6]))]
    )
    assert list(chance.misplaced(2))
    assert chance.number() is None


def test_without_groups_nothing_is_shown() -> None:
    assert Folders([]).number() is None
    assert Folders([Folder("f-1", 1, ())]).number() is None
