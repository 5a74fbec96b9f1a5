"""Reads the user data of all members of sticky groups together: list by list, each list of all members in one step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions
from udfs.assignors.questions.problems import ABSENT, Numbers
from udfs.assignors.sticky_steps.member_data import previous_assignment

INT16, INT32, WORD = 2, 4, 8
# Fewer members than these that have lists left are read one by one.
FEWEST_TOGETHER = 8
MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Lists:
    """Lists of partitions, member by member; topics by number, those that `names` lacks are left out."""

    members: Positions
    topics: Numbers
    sizes: Numbers
    partitions: NDArray[np.int32]
    generations: Numbers


@dataclass(frozen=True)
class UserDataLists:
    """Where lists stand in the bytes of all: their members, names and partitions."""

    members: Numbers
    name_at: Numbers
    name_size: Numbers
    size: Numbers

    @property
    def partitions_at(self) -> Numbers:
        return self.name_at + self.name_size + INT32


class Bytes:
    """Everything that members say, and numbers anywhere in it."""

    def __init__(self, data: Sequence[bytes | None]) -> None:
        self.sizes = np.array([len(each) if each else 0 for each in data], np.int64)
        self.starts = np.cumsum(self.sizes) - self.sizes
        # Room behind the end, where a number may be read before it is known not to be there.
        self.raw = b"".join(each for each in data if each) + bytes(WORD)

    def numbers(self, dtype: str, at: Numbers) -> Numbers:
        """Places up to a few bytes behind the end may be asked for."""
        anywhere = np.ndarray((len(self.raw) - np.dtype(dtype).itemsize + 1,), dtype, self.raw, strides=(1,))
        return anywhere[at].astype(np.int64)


def read_together(data: Sequence[bytes | None], names: Sequence[str]) -> Lists | None:
    """None where names need a look one by one."""
    if not all(name.isascii() for name in names):
        return None
    raw = Bytes(data)
    found, generations, unread = read_lists(raw)
    topics = topic_numbers(raw, found, names)
    if topics is None:
        return None
    known = topics >= 0
    order = by_member(found.members[known])
    partitions_at, sizes = found.partitions_at[known][order], found.size[known][order]
    ends = np.cumsum(sizes)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    partitions = raw.numbers(">i4", np.repeat(partitions_at, sizes) + INT32 * within).astype(np.int32)
    lists = Lists(found.members[known][order], topics[known][order], sizes, partitions, generations)
    return with_unread(lists, data, unread, names) if len(unread) else lists


def by_member(members: Numbers) -> Positions:
    bits = max(len(members).bit_length(), 1)
    packed = members << bits | np.arange(len(members))
    packed.sort()
    return packed & (1 << bits) - 1


def read_lists(raw: Bytes) -> tuple[UserDataLists, Numbers, Positions]:
    """The lists, the generations, and the members whose data has to be read alone: garbage, or very many lists."""
    members = np.flatnonzero(raw.sizes)
    ends = raw.starts + raw.sizes
    generations = np.full(len(raw.sizes), ABSENT, np.int64)
    at, end = raw.starts[members] + INT32, ends[members]
    left = raw.numbers(">i4", raw.starts[members])
    fits = (at <= end) & (left >= 0) & (left <= end - at)
    alone = [members[~fits]]
    members, at, end, left = members[fits], at[fits], end[fits], left[fits]
    waves = []
    while len(members):
        done = left == 0
        if done.any():
            has_generation = done & (at + INT32 <= end)
            generations[members[has_generation]] = raw.numbers(">i4", at[has_generation])
            members, at, end, left = members[~done], at[~done], end[~done], left[~done]
        if len(members) < FEWEST_TOGETHER and len(members) and int(left.max()) > 1:
            alone.append(members)
            break
        name_size = raw.numbers(">i2", at)
        name_at = at + INT16
        fits = (name_at <= end) & (name_size >= 0) & (name_size <= end - name_at)
        size_at = name_at + np.where(fits, name_size, 0)
        size = raw.numbers(">i4", size_at)
        next_at = size_at + INT32
        fits &= (next_at <= end) & (size >= 0) & (size * INT32 <= end - next_at)
        if not fits.all():
            alone.append(members[~fits])
            members, name_at, name_size, size, next_at, end, left = (
                each[fits] for each in (members, name_at, name_size, size, next_at, end, left)
            )
        waves.append((members, name_at, name_size, size))
        at, left = next_at + INT32 * size, left - 1
    columns = [np.concatenate(column) for column in zip(*waves, strict=True)] if waves else [np.empty(0, np.int64)] * 4
    unread = np.concatenate(alone)
    if len(unread):
        read = ~np.isin(columns[0], unread)
        columns = [column[read] for column in columns]
    return UserDataLists(*columns), generations, unread


def topic_numbers(raw: Bytes, found: UserDataLists, names: Sequence[str]) -> Numbers | None:
    """Which of the names each list is of, -1 for none; None where two names have one key."""
    table = Bytes([name.encode() for name in names])
    longest = int(table.sizes.max(initial=0))
    known = words(table, table.starts, table.sizes, longest)
    said = words(raw, found.name_at, found.name_size, longest)
    keys = mixed(*known)
    order = np.argsort(keys)
    ordered = keys[order]
    if not len(order) or (ordered[1:] == ordered[:-1]).any():
        return None
    topics = order[np.minimum(np.searchsorted(ordered, mixed(*said)), len(order) - 1)]
    same = np.ones(len(topics), np.bool_)
    for ours, theirs in zip(known, said, strict=True):
        same &= ours[topics] == theirs
    return np.where(same, topics, -1)


def words(where: Bytes, starts: Numbers, sizes: Numbers, longest: int) -> list[Numbers]:
    """The length of each name, and its first `longest` characters, eight at a time."""
    return [sizes, *(word(where, starts, sizes, offset) for offset in range(0, longest, WORD))]


def mixed(*parts: Numbers) -> NDArray[np.uint64]:
    key = np.zeros(len(parts[0]), np.uint64)
    for part in parts:
        # The upper half comes down, since what short names have stands there.
        key = (key ^ part.astype(np.uint64)) * MIXER
        key ^= key >> np.uint64(32)
    return key


def word(where: Bytes, starts: Numbers, sizes: Numbers, offset: int) -> Numbers:
    """Eight characters of each name; what lies behind its end counts as zero."""
    taken = where.numbers(">i8", starts + np.minimum(offset, sizes))
    beyond = np.clip(offset + WORD - sizes, 0, WORD)
    if not beyond.any():
        return taken
    # A shift by all 64 bits is none.
    half = 4 * beyond
    return taken >> half >> half << half << half


def with_unread(lists: Lists, data: Sequence[bytes | None], unread: Positions, names: Sequence[str]) -> Lists:
    number = {name: at for at, name in enumerate(names)}
    generations = lists.generations.copy()
    members, topics, sizes = lists.members.tolist(), lists.topics.tolist(), lists.sizes.tolist()
    partitions = [lists.partitions]
    for member in unread.tolist():
        said, generation = previous_assignment(data[member])
        generations[member] = ABSENT if generation is None else generation
        for topic, indexes in said:
            if topic in number:
                members.append(member)
                topics.append(number[topic])
                sizes.append(len(indexes))
                partitions.append(np.array(indexes, np.int32))
    return Lists(
        np.array(members, np.intp),
        np.array(topics, np.int64),
        np.array(sizes, np.int64),
        np.concatenate(partitions),
        generations,
    )
