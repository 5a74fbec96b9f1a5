"""Batches whose first offset was damaged, which no checksum covers: the right ones are left out, and counted."""

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from tests.builders.logs.batches import batch_of, record
from tests.oracles.log.framing_answers import framed
from tests.oracles.log.offset_order import Offsets, best_score, choices, score_of
from udfs.framing.log_bytes.framed_records import Batches, Framed
from udfs.framing.offset_order import places_to_keep, with_rising_offsets
from udfs.framing.rejected_ranges import RejectedRange, RejectedRanges

HIGHEST = 2**63 - 2


def log_of(*batches: Offsets) -> Framed:
    """Full batches that name these first and last offsets."""
    return framed(b"".join(full_batch(first, last - first + 1) for first, last in batches))


def full_batch(first: int, count: int) -> bytes:
    return batch_of(*(record(delta, b"k", b"v") for delta in range(count)), base_offset=first)


def first_offsets(batches: Batches) -> list[int]:
    return batches.base_offset.tolist()


def ranges_of(result: Framed, before: int, highest: int | None) -> list[RejectedRange]:
    ranges = RejectedRanges(before)
    ranges.take(result.batches, result.rejected, "a.log")
    ranges.close(highest)
    return ranges.closed


@pytest.mark.parametrize(
    ("batches", "left_out"),
    [
        # The second of them begins at 43. At 0 it takes the place of the first, which has no other one.
        ([(0, 42), (0, 34), (78, 112)], [1]),
        ([(0, 42), (0, 44), (88, 112)], [1]),
        # Moved down among those before it, up among those behind it, and right beside another one.
        ([(0, 9), (10, 19), (4, 13), (30, 39)], [2]),
        ([(0, 9), (35, 44), (20, 29), (30, 39)], [1]),
        ([(0, 9), (30, 39), (20, 29), (30, 39), (40, 49)], [1]),
        ([(0, 9), (10, 19), (10, 19), (30, 39)], [2]),
        # The first and the last one.
        ([(8, 17), (10, 19), (20, 29)], [0]),
        ([(0, 9), (10, 19), (2, 11)], [2]),
        ([(0, 9), (10, 19), (1000, 1009)], [2]),
        # Two of them.
        ([(0, 9), (2**40, 2**40 + 9), (20, 29), (2, 11), (40, 49)], [1, 3]),
        # The same bytes twice: there is no room for them.
        ([(0, 9), (10, 19), (10, 19), (20, 29)], [2]),
    ],
)
def test_the_batch_whose_offsets_do_not_fit_is_left_out(batches: Sequence[Offsets], left_out: Sequence[int]) -> None:
    log, top = log_of(*batches), max(last for _, last in batches if last < 1000)
    result = with_rising_offsets(log, -1, top)
    out = [
        place for place, position in enumerate(log.batches.position.tolist()) if position not in result.batches.position
    ]
    assert len(out) == len(left_out)
    assert {batches[place] for place in out} == {batches[place] for place in left_out}
    assert [(str(each.reason), each.field) for each in result.rejected] == [("bad_offset", "base_offset")] * len(out)


def test_a_batch_with_nothing_missing_up_to_the_next_segment_is_kept() -> None:
    """Both that follow the first leave a gap before them. The last one would leave another up to offset 54."""
    result = with_rising_offsets(log_of((0, 9), (15, 24), (22, 51)), -1, 54)
    assert first_offsets(result.batches) == [0, 15]


def test_what_is_left_out_says_where_it_was_expected() -> None:
    result = with_rising_offsets(log_of((0, 42), (0, 34), (78, 112)), -1, 112)
    (rejected,) = result.rejected
    assert rejected.detail == "offsets 0 to 34 contradict the batches around; offsets from 43 to 77 were expected"
    open_end = with_rising_offsets(log_of((5, 9), (10, 19), (2, 11)), 4, None)
    assert (
        open_end.rejected[0].detail == "offsets 2 to 11 contradict the batches around; offsets from 20 on were expected"
    )


def test_a_compacted_batch_that_is_left_out_counts_its_records_and_not_the_offsets_around_it() -> None:
    """It holds two of ten offsets and begins at 100; none of 51 to 99 and 110 to 199 are left."""
    left = batch_of(record(3, b"k", b"v"), record(7, b"k", b"v"), base_offset=7, last_delta=9)
    log = framed(full_batch(50, 1) + left + full_batch(200, 1))
    (result,) = ranges_of(with_rising_offsets(log, 49, 200), 49, 200)
    assert (result.num_records, result.is_num_records_estimated) == (2, False)
    assert (result.from_record_offset, result.to_record_offset) == (51, 199)


def altered(rng: np.random.Generator, offset: int) -> int:
    """One or more bits flipped, or bytes zeroed, of those that say it; or a few offsets off, where it may fit."""
    raw = bytearray(struct.pack(">q", offset))
    match int(rng.integers(0, 4)):
        case 0:
            raw[int(rng.integers(0, 8))] ^= 1 << int(rng.integers(0, 8))
        case 1:
            raw[int(rng.integers(6, 8))] = 0
        case 2:
            raw[7] = int(rng.integers(0, 256))
        case 3:
            return offset + int(rng.integers(-40, 41))
    return int(struct.unpack(">q", bytes(raw))[0])


def random_batches(rng: np.random.Generator, gap_share: float) -> tuple[int, list[Offsets]]:
    """The last offset before them, and full batches."""
    before = int(rng.choice([-1, 6, 250, 2**40]))
    batches, free_from = [], before + 1
    for _ in range(int(rng.integers(1, 10))):
        free_from += int(rng.integers(1, 40)) if rng.random() < gap_share else 0
        last = free_from + int(rng.integers(0, 30))
        batches.append((free_from, last))
        free_from = last + 1
    return before, batches


def moved(rng: np.random.Generator, batches: Sequence[Offsets], place: int) -> list[Offsets]:
    first, last = batches[place]
    now = altered(rng, first)
    return [*batches[:place], (now, now + last - first), *batches[place + 1 :]]


@pytest.mark.parametrize("gap_share", [0.0, 0.2, 1.0])
def test_no_other_choice_is_better(rng: np.random.Generator, gap_share: float) -> None:
    for _ in range(150):
        before, batches = random_batches(rng, gap_share)
        highest = int(batches[-1][1] + rng.integers(0, 3)) if rng.random() < 0.7 else None
        for place in rng.permutation(len(batches))[: int(rng.integers(1, 4))].tolist():
            batches = moved(rng, batches, place)
        if rng.random() < 0.2:
            place = int(rng.integers(0, len(batches)))
            batches = [*batches[:place], batches[place], *batches[place:]]
        base, last = np.array(batches, np.int64).T
        kept = tuple(places_to_keep(base, last, before, HIGHEST if highest is None else highest))
        about = (batches, before, highest, kept)
        assert kept in set(choices(batches, before, highest)), about
        assert score_of(batches, kept, before, highest) == best_score(batches, before, highest), about


def test_in_a_log_without_gaps_the_altered_batch_is_left_out_and_all_offsets_are_counted(
    rng: np.random.Generator,
) -> None:
    for _ in range(150):
        before, written = random_batches(rng, 0.0)
        highest, place = written[-1][1], int(rng.integers(0, len(written)))
        batches = moved(rng, written, place)
        if batches == written or len(written) < 3:
            continue
        result = with_rising_offsets(log_of(*batches), before, highest)
        assert first_offsets(result.batches) == [first for first, _ in written[:place] + written[place + 1 :]], batches
        (lost,) = ranges_of(result, before, highest)
        first, last = written[place]
        assert (lost.from_record_offset, lost.to_record_offset, lost.num_records) == (first, last, last - first + 1)
        assert not lost.is_num_records_estimated
