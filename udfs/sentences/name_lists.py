"""Lists names in a sentence: the first few, and the number of the others."""

from collections.abc import Sequence


def list_names(names: Sequence[str], most: int, gap: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return gap.join(names[:most]) + more
