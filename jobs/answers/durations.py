"""Formats durations for people."""

from datetime import datetime

from udfs.sentences.durations import in_words


def duration_text(ms: int) -> str:
    return f"{ms:,} ms" if ms < 1_000 else f"{ms / 1000:,.1f} s"


def time_between(start: datetime, end: datetime) -> str:
    ms = round((end - start).total_seconds() * 1000)
    return duration_text(ms) if ms < 60_000 else in_words(ms * 1000)
