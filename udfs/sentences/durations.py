"""Times and durations in words, from microseconds. Of partitions many have the same."""

from functools import lru_cache

import numpy as np

SECOND = 1_000_000
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@lru_cache
def in_words(duration: int) -> str:
    """The two largest units, such as `4 min 10 s`; below 10 s with a decimal."""
    seconds = duration / SECOND
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left, words = round(seconds), list[str]()
    for name, size in UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append(f"{count} {name}" if count else "")
    return " ".join(word for word in words[:2] if word)


@lru_cache
def clock_time(time: int) -> str:
    """In UTC, to the second."""
    return f"{np.datetime64(time, 'us').astype('datetime64[s]')}Z"
