"""Formats durations for people."""

from datetime import datetime


def duration_text(ms: int) -> str:
    return f"{ms:,} ms" if ms < 1_000 else f"{ms / 1000:,.1f} s"


def time_between(start: datetime, end: datetime) -> str:
    return duration_text(round((end - start).total_seconds() * 1000))
