"""Ranges of offsets, both ends included."""

from collections.abc import Iterable

Range = tuple[int, int]


def joined(ranges: Iterable[Range]) -> list[Range]:
    """The same offsets in as few ranges as there can be."""
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
