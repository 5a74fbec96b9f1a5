"""A segment in which two members' partitions of one recorded assignment are exchanged, as if the broker wrote it so."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import google_crc32c

from tests.kafka.records.cut_logs import batch_ends

CHECKSUM_AT, CHECKED_FROM = 17, 21
TARGET_OF_MEMBER = 7


@dataclass(frozen=True)
class Given:
    """What a recorded assignment gives one member of one topic."""

    member_id: str
    partitions: Sequence[int]


def exchange_in_classic(segment, record_offset, one, other):
    """A classic group's value has its members one after the other, each with its assignment."""
    exchange(segment, record_offset, [(member_anchor(each), classic_list(each.partitions)) for each in (one, other)])


def exchange_in_targets(segment, record_offset, group, one, other):
    """A consumer group's target has a record for each member; all are in the batch of the record at `record_offset`."""
    places = [(target_key(group, each), compact_list(each.partitions)) for each in (one, other)]
    exchange(segment, record_offset, places)


def exchange(segment, record_offset, places):
    """`places` are where to look from and the list that follows there; both lists are equally long."""
    content = bytearray(segment.read_bytes())
    (begin, end) = next(span for span in batches(bytes(content)) if holds(content, span[0], record_offset))
    result = []
    for anchor, listed in places:
        anchored = content.index(anchor, begin, end)
        result.append((content.index(listed, anchored, end), listed))
    (first, one), (second, other) = result
    assert len(one) == len(other) and one != other
    content[first : first + len(one)] = other
    content[second : second + len(other)] = one
    seal(content, begin, end)
    segment.write_bytes(content)


def seal(content, begin, end):
    """Gives a changed batch its checksum."""
    checksum = google_crc32c.value(bytes(content[begin + CHECKED_FROM : end]))
    struct.pack_into(">I", content, begin + CHECKSUM_AT, checksum)


def batches(content):
    ends = batch_ends(content)
    return zip([0, *ends], ends, strict=False)


def holds(content, begin, record_offset):
    first, last_delta = struct.unpack_from(">q", content, begin)[0], struct.unpack_from(">i", content, begin + 23)[0]
    return bool(first <= record_offset <= first + last_delta)


def member_anchor(given):
    return text(given.member_id)


def target_key(group, given):
    return struct.pack(">h", TARGET_OF_MEMBER) + text(group) + text(given.member_id)


def text(value):
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def classic_list(partitions):
    return struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)


def compact_list(partitions):
    return bytes([len(partitions) + 1]) + struct.pack(f">{len(partitions)}i", *partitions)
