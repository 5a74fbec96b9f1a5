"""Reads the user data of members of the sticky assignor (StickyAssignor.deserializeTopicPartitionAssignment), as loops:
a number of lists, of each the topic's name and its partitions; then, from 2.3 on, the generation."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.questions.problems import ABSENT, Codes

Bytes = NDArray[np.uint8]
INT16: Final = 2
INT32: Final = 4
NOTHING: Final = -1


@compiled(allocates=False, inlines=False)
def number_at(data: Bytes, at: int, size: int) -> int:
    """A big-endian number with its sign."""
    number = 0
    for place in range(at, at + size):
        number = number << 8 | int(data[place])
    return number - (number >> (8 * size - 1) << 8 * size)


@compiled(allocates=False, inlines=False)
def size_at(data: Bytes, at: int, end: int, size: int) -> int:
    """A length or a count that what is left can hold, or NOTHING."""
    if at + size > end:
        return NOTHING
    number = number_at(data, at, size)
    return number if number <= end - at - size else NOTHING


@compiled(allocates=False, inlines=False)
def bucket_of(data: Bytes, first: int, end: int, buckets: int) -> int:
    """Where the search for a name begins."""
    code = 0
    for at in range(first, end):
        code = (31 * code + int(data[at])) & 0xFFFFFFFF
    return (code ^ code >> 16) & (buckets - 1)


@compiled(allocates=False, inlines=False)
def find_name(table: Longs, names: Bytes, starts: Longs, data: Bytes, first: int, end: int) -> int:
    """The bucket in which the number of a name is, or must be."""
    bucket = bucket_of(data, first, end, len(table))
    while table[bucket] != NOTHING:
        start, size = starts[table[bucket]], starts[table[bucket] + 1] - starts[table[bucket]]
        at = 0
        while at < size and size == end - first and names[start + at] == data[first + at]:
            at += 1
        if at == size and size == end - first:
            break
        bucket = (bucket + 1) & (len(table) - 1)
    return bucket


@compiled(allocates=False, inlines=False)
def read_member(
    data: Bytes,
    at: int,
    end: int,
    table: Longs,
    names: Bytes,
    name_starts: Longs,
    topics: Codes,
    partitions: Codes,
    row: int,
    generations: Longs,
    member: int,
) -> int:
    """Writes the rows and the generation of a member; returns where its rows end, NOTHING if it is garbage."""
    lists = size_at(data, at, end, INT32)
    if lists == NOTHING or lists < 0:
        return NOTHING
    at += INT32
    for _ in range(lists):
        length = size_at(data, at, end, INT16)
        if length < 0:
            return NOTHING
        name, at = at + INT16, at + INT16 + length
        size = size_at(data, at, end, INT32)
        at += INT32
        if size < 0 or size * INT32 > end - at:
            return NOTHING
        topic = table[find_name(table, names, name_starts, data, name, name + length)]
        for place in range(size if topic != NOTHING else 0):
            topics[row], partitions[row] = topic, number_at(data, at + INT32 * place, INT32)
            row += 1
        at += INT32 * size
    if at + INT32 <= end:
        generations[member] = number_at(data, at, INT32)
    return row


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64[::1]))"
    "(Array(u1, 1, 'C', True), int64[::1], int64[::1], Array(u1, 1, 'C', True), int64[::1], int64[::1])"
)
def said_rows(
    data: Bytes, starts: Longs, num_members: Longs, names: Bytes, name_starts: Longs, num_names: Longs
) -> Any:
    """The rows of members whose user data stands one after another, group by group, of topics that have one of the
    group's names; the members' generations; and where the rows of each group end. Garbage says nothing at all."""
    room = len(data) // INT32
    members, topics, partitions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    generations, ends = np.full(len(starts) - 1, ABSENT), np.empty(len(num_members), np.int64)
    row, first_member, first_name = 0, 0, 0
    for group in range(len(num_members)):
        buckets = 2
        while buckets < 2 * (num_names[group] + 1):
            buckets *= 2
        table = np.full(buckets, NOTHING)
        for name in range(first_name, first_name + num_names[group]):
            table[find_name(table, names, name_starts, names, name_starts[name], name_starts[name + 1])] = name
        for member in range(first_member, first_member + num_members[group]):
            end = read_member(
                data, starts[member], starts[member + 1], table, names, name_starts, topics, partitions, row,
                generations, member,
            )  # fmt: skip
            for at in range(row, end):
                members[at] = member - first_member
                topics[at] -= first_name
            row = max(row, end)
        first_member += num_members[group]
        first_name += num_names[group]
        ends[group] = row
    return members[:row], topics[:row], partitions[:row], generations, ends
