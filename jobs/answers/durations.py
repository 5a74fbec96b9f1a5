"""Formats durations for people."""

from datetime import datetime

from udfs.sentences.durations import in_words


def duration_text(ms: int) -> str:
    return f"{ms:,} ms" if ms < 1_000 else f"{ms / 1000:,.1f} s"


def longest_text(ms: int) -> str:
    """Of an upper bound, so it is never rounded down."""
    return duration_text(ms if ms < 1_000 else -(-ms // 100) * 100)


def time_between(start: datetime, end: datetime) -> str:
    ms = round((end - start).total_seconds() * 1000)
    return duration_text(ms) if ms < 60_000 else in_words(ms * 1000)
