"""Names in a sentence: the first few, and how many more there are."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int, gap: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return gap.join(names[:most]) + more
