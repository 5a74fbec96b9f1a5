"""Reads messages of magic 0 and 1, and wrapper messages that contain compressed ones. Brokers before 0.11 wrote these,
and the cleaner of 4.0 rewrites the last of them."""

from dataclasses import dataclass
from struct import Struct

import numpy as np

from schemas.words.records import RejectReason
from udfs.arrays.big_endian import Positions
from udfs.framing.legacy.kernels import (
    ATTRIBUTES,
    BAD_CHECKSUM,
    BAD_KEY_LENGTH,
    BAD_VALUE_LENGTH,
    BEYOND,
    BYTES_LEFT,
    CODEC_BITS,
    COMPRESSED_INSIDE,
    FAULT,
    GOOD,
    KEY_BEYOND,
    NO_KEY_LENGTH,
    NO_VALUE_LENGTH,
    NUM_COLUMNS,
    NUM_OF_FAULT,
    OFFSET,
    OTHER_MAGIC,
    TIMESTAMP,
    TOO_SMALL,
    VALUE_BEYOND,
    VALUE_LENGTH,
    VALUE_START,
    Table,
    read_inner_messages,
    read_messages,
)
from udfs.framing.log_bytes.compression import Codec
from udfs.framing.log_bytes.framed_records import Fault, Wrong
from udfs.framing.log_bytes.resync import SMALLEST_ENTRY
from udfs.framing.log_bytes.room import Room

LOG_APPEND_TIME = 0x08

read_int32 = Struct(">i").unpack_from

# This bounds what hostile wrappers can cost: a compressed message takes less than a bit.
MOST_INNER_MESSAGES = 1 << 18

TOO_SHORT, WRONG_LENGTH = "4 bytes wanted, {} left", "length {}"
TEXTS = {
    TOO_SMALL: (RejectReason.BAD_LENGTH, "message_length", "inner message of {} bytes is too small for magic {}"),
    BEYOND: (RejectReason.UNDERRUN, "message_length", "inner message of {} bytes, {} left"),
    OTHER_MAGIC: (RejectReason.UNKNOWN_MAGIC, "magic", "magic {} inside of magic {}"),
    BAD_CHECKSUM: (RejectReason.BAD_CRC, "crc", "inner message of {} bytes: its checksum does not match"),
    COMPRESSED_INSIDE: (RejectReason.UNSUPPORTED_CODEC, "codec", "a compressed message inside of a compressed one"),
    NO_KEY_LENGTH: (RejectReason.UNDERRUN, "key", TOO_SHORT),
    BAD_KEY_LENGTH: (RejectReason.BAD_LENGTH, "key", WRONG_LENGTH),
    KEY_BEYOND: (RejectReason.UNDERRUN, "key", "{} bytes wanted, {} left"),
    NO_VALUE_LENGTH: (RejectReason.UNDERRUN, "value", TOO_SHORT),
    BAD_VALUE_LENGTH: (RejectReason.BAD_LENGTH, "value", WRONG_LENGTH),
    VALUE_BEYOND: (RejectReason.UNDERRUN, "value", "{} bytes wanted, {} left"),
    BYTES_LEFT: (RejectReason.TRAILING_BYTES, "records", "{} bytes after the value"),
}


@dataclass(frozen=True)
class LegacyEntries:
    """Entries of the log in these formats: each a message, or a wrapper around others. Positions are in the room's
    buffer. A column of `messages` for each entry; what is inside of a wrapper, by its place here."""

    numbers: Positions
    magic: Positions
    messages: Table
    inside: dict[int, Table]

    @property
    def codecs(self) -> Positions:
        codecs: Positions = self.messages[ATTRIBUTES] & CODEC_BITS
        return codecs

    def take(self, places: Positions) -> "LegacyEntries":
        inside = {new: self.inside[old] for new, old in enumerate(places.tolist()) if old in self.inside}
        return LegacyEntries(self.numbers[places], self.magic[places], self.messages[:, places], inside)


def legacy_entries(
    room: Room, numbers: Positions, magic: Positions, start: Positions, end: Positions
) -> tuple[LegacyEntries, dict[int, Fault]]:
    """The entries without what is inside of them, and the faults by entry number."""
    messages, faults = np.empty((NUM_COLUMNS, len(start)), np.int64), np.empty((len(start), NUM_OF_FAULT), np.int64)
    read_messages(room.data, start, end, messages, faults)
    bad = np.flatnonzero(faults[:, FAULT] != GOOD)
    entries = LegacyEntries(numbers, magic, messages, {})
    return entries, {int(numbers[place]): fault_of(faults, place) for place in bad.tolist()}


def fault_of(faults: Table, place: int) -> Fault:
    fault, *values = faults[place].tolist()
    reason, field, text = TEXTS[fault]
    return Fault(reason, field, text.format(*values))


def read_inside(room: Room, entries: LegacyEntries, place: int) -> int:
    """The messages in a wrapper, and their number. Raises Wrong."""
    wrapper, magic = entries.messages[:, place], int(entries.magic[place])
    codec = int(wrapper[ATTRIBUTES]) & CODEC_BITS
    if codec >= Codec.ZSTD:
        raise Wrong(RejectReason.UNSUPPORTED_CODEC, "codec", f"magic {magic} does not allow codec {codec}")
    if wrapper[VALUE_LENGTH] < 0:
        raise Wrong(RejectReason.BAD_LENGTH, "value", "a wrapper message without a value")
    value_start, value_length = int(wrapper[VALUE_START]), int(wrapper[VALUE_LENGTH])
    start, end = room.decompress(Codec(codec), value_start, value_start + value_length, magic)
    # With room for one too many, and for the fault of bytes that are too few for one.
    most = min(MOST_INNER_MESSAGES, (end - start) // SMALLEST_ENTRY[magic]) + 1
    messages, faults = np.empty((NUM_COLUMNS, most), np.int64), np.zeros((1, NUM_OF_FAULT), np.int64)
    count = read_inner_messages(room.data, start, end, magic, messages, faults)
    if faults[0, FAULT] != GOOD:
        fault = fault_of(faults, 0)
        raise Wrong(fault.reason, fault.field, fault.detail)
    if count == 0:
        raise Wrong(RejectReason.UNDERRUN, "records", "a wrapper message around nothing")
    if count > MOST_INNER_MESSAGES:
        raise Wrong(RejectReason.TOO_LARGE, "records", f"more than {MOST_INNER_MESSAGES} messages in one")
    entries.inside[place] = unwrapped(wrapper, magic, messages[:, :count].copy())
    return count


def unwrapped(wrapper: Positions, magic: int, messages: Table) -> Table:
    """With the fields that inner messages take from their wrapper. Magic 0 takes none: its inner offsets are the real
    ones."""
    if magic == 1:
        # The wrapper has the offset of its *last* message. 0 means that the broker has not set it.
        if wrapper[OFFSET]:
            messages[OFFSET] += wrapper[OFFSET] - messages[OFFSET, -1]
        if wrapper[ATTRIBUTES] & LOG_APPEND_TIME:
            messages[TIMESTAMP] = wrapper[TIMESTAMP]
    return messages
