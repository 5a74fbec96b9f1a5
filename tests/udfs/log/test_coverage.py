"""Which offsets of a log are known, of one that is written down by hand, read at once and in pieces."""

from typing import Any

import numpy as np
import pytest

from udfs.log.coverage import NO_TIME, Coverage, KnownSpan, coverage_rows

# Offsets 0 to 9 and 20 to 29 were read. Of them 3, 4 and 22 had been compacted away, 25 cannot be decoded.
SPANS = ((0, 9), (20, 29))
OFFSETS = [0, 1, 2, 5, 6, 7, 8, 9, 20, 21, 23, 24, 25, 26, 27, 28, 29]
UNREADABLE = 25
# Neither the record after the first gap nor the last has a time, and the largest time is not that of the last record.
TIMES = {offset: 100 * offset for offset in OFFSETS} | {5: NO_TIME, 29: NO_TIME, 8: 5000}


def covered(pieces: int) -> Coverage:
    coverage = Coverage([KnownSpan(*span) for span in SPANS])
    for offsets in np.array_split(np.array(OFFSETS), pieces):
        times = np.array([TIMES[offset] for offset in offsets.tolist()], np.int64)
        coverage.add(offsets, times, offsets != UNREADABLE, is_plain=False)
    return coverage


@pytest.mark.parametrize("pieces", [1, 2, 5, len(OFFSETS)])
def test_gaps_are_all_offsets_without_a_record_that_can_be_decoded(pieces: int) -> None:
    gaps = covered(pieces).gaps()
    missing = [offset for first, last in zip(gaps.firsts, gaps.lasts, strict=True) for offset in range(first, last + 1)]
    assert missing == [3, 4, *range(10, 20), 22, 25]


@pytest.mark.parametrize("pieces", [1, 2, 5, len(OFFSETS)])
def test_rows_say_what_was_read_and_since_when_nothing_is_missing(pieces: int) -> None:
    first, second = coverage_rows("c", 3, covered(pieces).stretches)
    assert facts(first) == (0, 9, 5, None, 0, 5000, 8, 2, False)
    assert facts(second) == (20, 29, 26, 2600, 2000, 2800, 9, 1, True)


def facts(row: dict[str, Any]) -> tuple[object, ...]:
    names = (
        "first_offset", "last_offset", "complete_from_offset", "complete_from_time", "from_time", "to_time",
        "num_records", "compacted_records_estimate", "is_provisional",
    )  # fmt: skip
    return tuple(row[name] for name in names)


@pytest.mark.parametrize("pieces", [1, 5])
def test_a_hole_has_the_offset_before_it_and_the_largest_time_up_to_there(pieces: int) -> None:
    assert covered(pieces).holes() == [(9, 5000)]


def test_damaged_records_are_not_compacted_ones() -> None:
    (row,) = coverage_rows("c", 0, [KnownSpan(10, 19, num_records=6, damaged_records=3)])
    assert (row["compacted_records_estimate"], row["damaged_records"]) == (1, 3)
