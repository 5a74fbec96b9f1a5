"""History tables made by hand: few words for an interval, a rebalance, a commit."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

Row = dict[str, Any]

START: Final = datetime(2026, 11, 21, 3, tzinfo=UTC)
PARTITION: Final = 3


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def evidence(first: int, last: int) -> Row:
    places = {"evidence_first_offset": first, "evidence_last_offset": last}
    return {"evidence_partition": PARTITION, **places, "confidence": "certain"}


def interval(begin: float, end: float | None, first: int, ended_by: str | None = None) -> Row:
    """`begin` and `end` are seconds after START; `first` is the record that begins it."""
    return {
        "group_type": "classic",
        "from_time": at(begin),
        "to_time": None if end is None else at(end),
        "from_record_offset": first,
        "to_record_offset": None if end is None else first + 1,
        "is_provisional": end is None,
        "is_from_exact": True,
        "is_to_exact": True,
        "ended_by": ended_by or (None if end is None else "next_state"),
        **evidence(first, first),
    }


def coverage(first_offset: int, last_offset: int, begin: float, end: float) -> Row:
    return {
        "offsets_partition": PARTITION,
        "first_offset": first_offset,
        "last_offset": last_offset,
        "complete_from_offset": first_offset,
        "from_time": at(begin),
        "to_time": at(end),
        "is_provisional": True,
    }


def rebalance(group: str, offset: int, begin: float, end: float | None, **more: Any) -> Row:
    return {
        "group_id": group,
        "group_type": "classic",
        "assignment_offset": offset,
        "to_generation": 1,
        "start_time": at(begin),
        "is_start_exact": False,
        "end_time": None if end is None else at(end),
        "is_provisional": end is None,
        "duration_ms": None if end is None else round((end - begin) * 1000),
        "outcome": "open" if end is None else "completed",
        "trigger": "member_joined",
        "members_joined": [],
        "members_departed": [],
        **evidence(offset, offset),
        **more,
    }
