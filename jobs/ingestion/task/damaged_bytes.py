"""Damaged byte ranges that earlier runs reported: which of them remain, and which a copy has replaced."""

from collections.abc import Iterable, Mapping, Sequence

from jobs.ingestion.task.live_cuts import without
from jobs.ingestion.task.messages import KnownRange
from udfs.framing.rejected_ranges import RejectedRange
from udfs.log.offset_ranges import Range, join_ranges

Stretch = tuple[int, int]


def sort_out(
    ranges: Sequence[RejectedRange],
    earlier: Sequence[KnownRange],
    read: Mapping[str, Stretch],
    seen: Sequence[Stretch],
) -> tuple[list[RejectedRange], list[tuple[str, int]]]:
    """Of the `ranges`, those to write; of the `earlier` ranges, by file and position, those to remove. `read`:
    the part of each file that was read. `seen`: offsets that are decoded, or are in an undamaged copy, here or in the
    warehouse."""
    seen = join_ranges(seen)
    again = {(each.source_file, each.rejected.byte_position): each for each in ranges}
    kept, gone = set(), []
    for each in earlier:
        place = (each.source_file, each.byte_position)
        start, end = read.get(each.source_file, (0, 0))
        is_gone = start <= each.byte_position < end and place not in again
        is_bounded_now = each.to_record_offset is None and place in again and again[place].to_record_offset is not None
        if is_gone or is_bounded_now or is_made_good(each.from_record_offset, each.to_record_offset, seen):
            gone.append(place)
        else:
            kept.add(place)
    unknown = [
        each
        for place, each in again.items()
        if place not in kept and not is_made_good(each.from_record_offset, each.to_record_offset, seen)
    ]
    return unknown, gone


def made_good_together(
    earlier: Mapping[int, Sequence[KnownRange]], seen: Mapping[int, Sequence[Stretch]]
) -> set[tuple[str, int]]:
    """Earlier ranges that several tasks of a run replace together, each a part: segments of another copy may end inside
    them."""
    return {
        (each.source_file, each.byte_position)
        for partition, stretches in seen.items()
        for each in earlier.get(partition, ())
        if is_made_good(each.from_record_offset, each.to_record_offset, stretches)
    }


def is_made_good(first: int | None, last: int | None, seen: Iterable[Stretch]) -> bool:
    """Whether other copies cover everything that the range may have contained. What they lack there, compaction
    removed."""
    if first is None:
        return False
    last = first if last is None else last
    return first <= last and any(begin <= first and last <= end for begin, end in seen)


def without_damaged(ranges: Sequence[Range], damaged: Sequence[KnownRange | RejectedRange]) -> list[Range]:
    return list(
        without(ranges, sorted(bounds_of(each.from_record_offset, each.to_record_offset, ranges) for each in damaged))
    )


def bounds_of(first: int | None, last: int | None, ranges: Sequence[Range]) -> Range:
    """Without known bounds, a damaged range may be anywhere in the copy."""
    ends = [end for _, end in ranges] or [0]
    return 0 if first is None else first, max(ends) if last is None else last
