"""Folders of offsets partitions that have another partition's number, as after a folder was copied under a wrong name:
the hash of each of their groups shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from udfs.arrays.nullable import Flags, Numbers
from udfs.groups.group_partition import hash_of
from udfs.groups.num_partitions import DEFAULT_NUMBER, HIGHEST_NUMBER, LEAST_GROUPS

# So many groups of a folder are looked at.
ENOUGH_GROUPS: Final = 8
# A number of partitions counts as known if random groups fit it more rarely than once in so many cases.
RARE: Final = 10_000


@dataclass(frozen=True)
class Folder:
    """`groups`: the first ones of which it has records, up to some of ENOUGH_GROUPS."""

    name: str
    partition: int
    groups: tuple[str, ...]


class Folders:
    """Folders that have groups, and the hashes of these, one folder after the other."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        self.folders = [folder for folder in folders if folder.groups]
        sizes = [len(folder.groups) for folder in self.folders]
        self.hashes = np.array([hash_of(group) for folder in self.folders for group in folder.groups], np.int64)
        self.partitions = np.repeat(np.array([folder.partition for folder in self.folders], np.int64), sizes)
        self.begins = np.cumsum([0, *sizes], dtype=np.int64)[:-1]

    def are_right(self, number: int) -> Flags:
        """By folder, whether all of its groups belong there if there are so many partitions."""
        return np.logical_and.reduceat(self.hashes % number == self.partitions, self.begins)

    def are_of_one(self, number: int) -> Flags:
        """By folder, whether all of its groups belong to the same partition, this one or another."""
        places = self.hashes % number
        same: Flags = np.maximum.reduceat(places, self.begins) == np.minimum.reduceat(places, self.begins)
        return same

    def number(self) -> int | None:
        """How many partitions there are, as the groups of all folders show, else of most of them: Kafka's default if it
        fits, else the lowest number that does."""
        if len(self.hashes) < LEAST_GROUPS:
            return None
        # Of a wrong number nearly always the first group of each folder shows it.
        numbers: Numbers = np.arange(2, HIGHEST_NUMBER + 1)
        fits = self.hashes[self.begins, None] % numbers == self.partitions[self.begins, None]
        num_right = np.count_nonzero(fits, axis=0)
        for least, show in ((len(self.folders), self.show_all), (len(self.folders) // 2 + 1, self.show)):
            some: list[int] = numbers[num_right >= least].tolist()
            ordered = [DEFAULT_NUMBER, *some] if DEFAULT_NUMBER in some else some
            if (number := next((each for each in ordered if show(each)), None)) is not None:
                return number
        return None

    def show_all(self, number: int) -> bool:
        return self.show(number) and bool(self.are_right(number).all())

    def show(self, number: int) -> bool:
        is_right = self.are_right(number)
        num_groups = int(np.diff(self.begins, append=len(self.hashes))[is_right].sum())
        is_chance = num_groups < LEAST_GROUPS or number**num_groups < RARE
        return not is_chance and 2 * int(is_right.sum()) > len(is_right)

    def misplaced(self, number: int) -> Iterator[tuple[Folder, int]]:
        """Folders of which all groups, and at least three, belong to one other partition, with that partition. None if
        the groups of some folder belong to several: then the number of partitions was changed."""
        is_right = self.are_right(number)
        if (is_right | self.are_of_one(number)).all():
            for place in np.flatnonzero(~is_right).tolist():
                if len(self.folders[place].groups) >= LEAST_GROUPS:
                    yield self.folders[place], int(self.hashes[self.begins[place]] % number)
