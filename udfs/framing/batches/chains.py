"""Chains: runs of elements that stand behind each other, each led by its own length as a zig-zag varint; -1 is null.

Where an element starts is known only when the one before it is read, so a chain is sequential. Many chains are not:
wave j reads element j of every chain that has one, and costs a few array operations however many chains there are. The
last few long chains are walked one by one, since a wave over three chains costs as much as one over three hundred.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions, Views
from udfs.framing.batches.varints import LONGEST_INT32, read_one_unsigned, read_signed

# Below this number of chains a plain loop is faster than array operations.
FEW_CHAINS = 24

# A step or length beyond the end of any buffer, where two bytes do not tell: who follows it notices.
BEYOND = 1 << 40


@dataclass(frozen=True)
class PrefixTable:
    """What the first two bytes of an element say, for each of their 65,536 values (first byte in the low half).

    `step` is the size of the whole element, `length` that of its bytes alone (-1 null). Where two bytes do not tell (a
    longer varint, or a length below the lowest that is allowed) both are BEYOND: such elements are rare and read again
    in full.
    """

    step: NDArray[np.int64]
    length: NDArray[np.int64]


@cache
def prefix_table(lowest: int) -> PrefixTable:
    both = np.arange(1 << 16)
    first, second = both & 0xFF, both >> 8
    has_two = first >= 0x80
    raw = np.where(has_two, (first & 0x7F) | (second << 7), first)
    length = (raw >> 1) ^ -(raw & 1)
    is_told = ~(has_two & (second >= 0x80)) & (length >= lowest)
    step = 1 + has_two + np.maximum(length, 0)
    return PrefixTable(np.where(is_told, step, BEYOND), np.where(is_told, length, BEYOND))


@dataclass(frozen=True)
class Walked:
    """Elements of all chains in order, chain by chain. Elements of a chain that `is_bad` are meaningless."""

    position: Positions  # where the element begins, with its length
    word: Positions  # its first eight bytes, little-endian: most elements are read from these alone
    after: Positions  # a chain: where its last element ends
    is_bad: NDArray[np.bool_]  # a chain: it runs past its end, or holds an impossible length


def walk(views: Views, start: Positions, count: Positions, end: Positions, lowest: int) -> Walked:
    """`count` elements from each `start`, none of which may reach beyond `end`.

    The caller bounds the counts by the bytes there are: memory is taken for that many elements.
    """
    walker = Walker(views, start, count, end, lowest)
    for wave, live in enumerate(walker.chains_left()):
        if live < FEW_CHAINS:
            walker.finish_one_by_one(live, wave)
            break
        walker.step(live, wave)
    walker.again_in_full(start)
    return walker.result()


class Walker:
    """Chains sorted by falling number of elements, so that those which still go on are always the first few."""

    def __init__(self, views: Views, start: Positions, count: Positions, end: Positions, lowest: int) -> None:
        self.data, self.words = views.data, views.of("<i8")
        self.lowest = lowest
        self.steps = prefix_table(lowest).step
        # NumPy sorts small integers by radix, larger ones by merging, which is slower.
        is_small = len(count) > 0 and count.max() < 1 << 15
        self.order = np.argsort(-count.astype(np.int16) if is_small else -count, kind="stable")
        self.count = count[self.order]
        self.row = (np.cumsum(count) - count)[self.order]
        self.position = start[self.order]
        # A chain that overruns is held one byte beyond its end: there it can be told from one that ends in time, and
        # there is no way for it to wander through the buffer.
        self.limit = end[self.order] + 1
        np.minimum(self.position, self.limit, out=self.position)
        total = int(count.sum())
        self.element = np.empty(total, np.int64)
        self.word = np.empty(total, np.int64)

    def chains_left(self) -> list[int]:
        """For each wave, how many chains have an element for it."""
        if not len(self.count) or not self.count[0]:
            return []
        ended: list[int] = np.bincount(self.count).cumsum()[:-1].tolist()
        return [len(self.count) - gone for gone in ended]

    def step(self, live: int, wave: int) -> None:
        position = self.position[:live]
        word = self.words[position]
        row = self.row[:live] + wave
        self.element[row] = position
        self.word[row] = word
        position += self.steps.take(word & 0xFFFF, mode="clip")
        np.minimum(position, self.limit[:live], out=position)

    def finish_one_by_one(self, live: int, wave: int) -> None:
        for chain in range(live):
            self.finish(chain, wave)

    def again_in_full(self, start: Positions) -> None:
        """Chains that hold what two bytes do not tell have been led to their limits, like those that overrun."""
        for chain in np.flatnonzero((self.position >= self.limit) & (self.count > 0)).tolist():
            self.position[chain] = start[self.order[chain]]
            self.finish(chain, 0)

    def finish(self, chain: int, wave: int) -> None:
        """Walks the rest of one chain in plain Python."""
        count = int(self.count[chain]) - wave
        positions = self.rest_of(int(self.position[chain]), count, int(self.limit[chain]))
        self.position[chain] = positions.pop()
        rows = slice(int(self.row[chain]) + wave, int(self.row[chain]) + wave + count)
        self.element[rows] = positions
        self.word[rows] = self.words[self.element[rows]]

    def rest_of(self, position: int, count: int, limit: int) -> list[int]:
        """Where `count` elements begin, and where the last one ends."""
        data, steps = self.data.data, self.steps.data
        positions = [min(position, limit)]
        for _ in range(count):
            step = steps[data[position] | data[position + 1] << 8] if position < limit else BEYOND
            position += step if step < BEYOND else self.step_in_full(data, position)
            if position >= limit:
                positions.extend([limit] * (count + 1 - len(positions)))
                break
            positions.append(position)
        return positions

    def step_in_full(self, data: memoryview, position: int) -> int:
        raw, size = read_one_unsigned(data, position, LONGEST_INT32)
        length = raw >> 1 ^ -(raw & 1)
        return BEYOND if size == 0 or length < self.lowest else size + max(length, 0)

    def result(self) -> Walked:
        after = np.empty_like(self.position)
        after[self.order] = self.position
        is_bad = np.empty(len(after), bool)
        is_bad[self.order] = self.position >= self.limit
        return Walked(self.element, self.word, after, is_bad)


def lengths_of_elements(views: Views, walked: Walked, lowest: int) -> Positions:
    """How many bytes follow each element's length, -1 where null."""
    length = prefix_table(lowest).length.take(walked.word & 0xFFFF, mode="clip")
    rare = np.flatnonzero(length == BEYOND)
    if len(rare):
        length[rare], _ = read_signed(views.data, walked.position[rare], LONGEST_INT32)
    return length
