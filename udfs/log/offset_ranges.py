"""Ranges of offsets, both ends included."""

from collections.abc import Iterable

Range = tuple[int, int]


def join_ranges(ranges: Iterable[Range]) -> list[Range]:
    """The same offsets in as few ranges as there can be."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined
