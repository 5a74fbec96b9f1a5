"""Offsets named by headers in a rejected range of bytes. Nothing proves them: the caller compares them with the batches
before and after the range."""

from struct import Struct

from udfs.framing.legacy.kernels import CODEC_BITS, KEY_LENGTH_AT
from udfs.framing.legacy.messages import read_int32
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Claim
from udfs.framing.log_bytes.resync import LARGEST_ENTRY, PREFIX_SIZE, SHORTEST_LOOK, SMALLEST_ENTRY

# A range with more entries was made to look like that.
MOST_CLAIMS = 10_000

# Offset, size, magic, and attributes of the older formats. It skips the four bytes after the size.
read_prefix = Struct(">qi4xbB").unpack_from
LAST_DELTA_AT, COUNT_AT = 23, 57
LENGTH_BYTES = 4


def claims(data: Bytes, start: int, end: int) -> tuple[Claim, ...]:
    """The claims of all entries of the range; none unless their lengths lead exactly from its beginning to its end."""
    all_claims: list[Claim] = []
    position = start
    while position < end:
        claim, size = claim_at(data, position, end)
        if claim is None or len(all_claims) == MOST_CLAIMS:
            return ()
        all_claims.append(claim)
        position += size
    return tuple(all_claims)


def claim_at(data: Bytes, position: int, end: int) -> tuple[Claim | None, int]:
    """The claim of an entry, and the entry's size."""
    if end - position < SHORTEST_LOOK:
        return None, 0
    offset, length, magic, attributes = read_prefix(data.data, position)
    size = PREFIX_SIZE + length
    if not 0 <= magic < len(SMALLEST_ENTRY) or not SMALLEST_ENTRY[magic] <= size <= end - position:
        return None, 0
    if magic == 2:
        delta, count = (read_int32(data.data, position + at)[0] for at in (LAST_DELTA_AT, COUNT_AT))
        return Claim(offset, offset + delta, count), size
    # A compressed message says only inside how many messages it has.
    is_one = not attributes & CODEC_BITS and is_filled(data, position + KEY_LENGTH_AT[magic], position + size)
    return (Claim(offset, offset, 1), size) if is_one else (None, 0)


def next_offset(data: Bytes, position: int, size: int) -> int | None:
    """The first offset in the header of a batch that may be cut off. In compressed messages of the older formats it is
    the last offset."""
    if size - position < SHORTEST_LOOK:
        return None
    offset, length, magic, attributes = read_prefix(data.data, position)
    is_first_offset = magic == 2 or (magic in (0, 1) and not attributes & CODEC_BITS)
    return offset if is_first_offset and SMALLEST_ENTRY[magic] <= PREFIX_SIZE + length <= LARGEST_ENTRY else None


def is_filled(data: Bytes, position: int, end: int) -> bool:
    """Whether a key and a value fill a message. A message without a key contains others."""
    for lowest in (0, -1):
        if end - position < LENGTH_BYTES:
            return False
        length = read_int32(data.data, position)[0]
        if length < lowest:
            return False
        position += LENGTH_BYTES + max(length, 0)
    return bool(position == end)
