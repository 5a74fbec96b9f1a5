"""Ranges of bytes that made no batch: which of them still are to be told, and which have been made good."""

from collections.abc import Iterable, Mapping, Sequence

from jobs.ingestion.copies import RejectedRange
from jobs.ingestion.task_answers import KnownRange

Stretch = tuple[int, int]


def sort_out(
    found: Sequence[RejectedRange],
    earlier: Sequence[KnownRange],
    read: Mapping[str, Stretch],
    decoded: Sequence[Stretch],
) -> tuple[list[RejectedRange], list[tuple[str, int]]]:
    """Of those `found` the ones to write, and of the `earlier` ones, by file and position, those that go. `read` says
    from where to where each file was read, `decoded` which offsets are decoded here or in the warehouse."""
    known = {(each.source_file, each.byte_position) for each in earlier}
    again = {(each.source_file, each.rejected.byte_position) for each in found}
    gone = []
    for each in earlier:
        place = (each.source_file, each.byte_position)
        start, end = read.get(each.source_file, (0, 0))
        is_gone = start <= each.byte_position < end and place not in again
        if is_gone or is_made_good(each.from_offset, each.to_offset, decoded):
            gone.append(place)
    unknown = [
        each
        for each in found
        if (each.source_file, each.rejected.byte_position) not in known
        and not is_made_good(each.from_offset, each.to_offset, decoded)
    ]
    return unknown, gone


def is_made_good(first: int | None, last: int | None, decoded: Iterable[Stretch]) -> bool:
    """Whether another copy gave a record that the range may have held."""
    if first is None:
        return False
    last = first if last is None else last
    return any(begin <= last and first <= end for begin, end in decoded)
