"""How many records a rejected range of bytes held: a table of situations."""

from collections.abc import Sequence

import pytest

from schemas.words.records import RejectReason
from udfs.framing.log_bytes.framed_records import Claim, Rejected
from udfs.framing.rejected_ranges import RejectedRange, note_offsets

FULL, OTHER = Claim(10, 16, 7), Claim(17, 19, 3)


@pytest.mark.parametrize(
    ("claims", "first", "last", "expected"),
    [
        ([[FULL]], 10, 16, [(7, False)]),
        # A header that does not fit, or cannot be read: the offsets between the neighbours.
        ([[Claim(11, 17, 7)]], 10, 16, [(7, True)]),
        ([[Claim(10, 16, 8)]], 10, 16, [(7, True)]),
        ([[Claim(10, 16, 0)]], 10, 16, [(7, True)]),
        ([[]], 10, 16, [(7, True)]),
        # Fewer records than offsets: believed where the log is compacted, as the offsets that it leaves out show.
        ([[Claim(10, 16, 2)]], 10, 16, [(7, True)]),
        ([[Claim(10, 16, 2)]], 10, 99, [(2, False)]),
        ([[FULL]], 0, 99, [(7, False)]),
        # Several batches in one range, and several ranges between two good batches.
        ([[FULL, OTHER]], 10, 19, [(10, False)]),
        ([[FULL], [OTHER]], 10, 19, [(7, False), (3, False)]),
        ([[OTHER], [FULL]], 10, 19, [(9, True), (1, True)]),
        ([[FULL], []], 10, 19, [(7, False), (3, True)]),
        ([[], [OTHER], []], 10, 19, [(6, True), (3, False), (1, True)]),
        # No offset is missing: bytes that never held a record.
        ([[]], 10, 9, [(0, True)]),
        # A bound is not known.
        ([[FULL]], 10, None, [(7, False)]),
        ([[]], 10, None, [(1, True)]),
        ([[FULL]], None, 16, [(7, False)]),
        ([[]], None, 16, [(1, True)]),
        ([[]], None, None, [(1, True)]),
    ],
)
def test_how_many_records_ranges_held(
    claims: Sequence[Sequence[Claim]], first: int | None, last: int | None, expected: Sequence[tuple[int, bool]]
) -> None:
    ranges = [
        RejectedRange("a.log", Rejected(100 * place, 100, RejectReason.BAD_CRC, "crc", "…", tuple(some)))
        for place, some in enumerate(claims)
    ]
    note_offsets(ranges, first, last)
    assert [(each.num_records, each.is_num_records_estimated) for each in ranges] == list(expected)
    assert all(each.to_record_offset == last for each in ranges)
