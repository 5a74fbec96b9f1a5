"""What drawings are made of in tests: instants in seconds, and boxes of SVG as numbers."""

from datetime import datetime, timedelta
from typing import Any

from jobs.reporting.drawings.time_axis import TimeAxis
from tests.make.tables import NOW
from tests.oracles.pages.parsed_pages import Element, parsed

# 100 seconds on 800 units, from 190 to 990: eight a second.
LEFT, PER_SECOND = 190.0, 8.0


def at(second: float) -> datetime:
    return NOW + timedelta(seconds=second)


def x(second: float) -> float:
    return LEFT + PER_SECOND * second


AXIS = TimeAxis(at(0), at(100))


def boxes(svg: str, kind: str) -> list[tuple[float, float, float]]:
    """Left, width and top of the rectangles of a class."""
    return [
        (number(each, "x"), number(each, "width"), number(each, "y")) for each in parsed(svg).all("rect", class_=kind)
    ]


def number(element: Element, name: str) -> float:
    return float(element.attributes[name] or "")


def texts(svg: str, kind: str) -> list[str]:
    return [each.words for each in parsed(svg).all("text", class_=kind)]


def stay(member: str, partition: int, start: float, end: float | None, **columns: Any) -> dict[str, Any]:
    return {
        "topic": "orders", "topic_id": None, "partition": partition, "member_id": member, "client_id": None,
        "phase": "assigned", "role": None, "from_time": at(start), "to_time": None if end is None else at(end),
        "ended_by": None, "reader_doubt_from_time": None, "from_record_offset": int(start), **columns,
    }  # fmt: skip


def move(partition: int, before: str | None, after: str | None, **columns: Any) -> dict[str, Any]:
    place = {"topic": "orders", "topic_id": None, "partition": partition, "role": None}
    return {**place, "from_member_id": before, "to_member_id": after, "idle_ms": None, **columns}


def rebalance(start: float, trigger: str = "member_left", **columns: Any) -> dict[str, Any]:
    return {
        "start_time": at(start), "end_time": at(start + 1), "duration_ms": 1_000, "trigger": trigger,
        "assignment_offset": int(start), **columns,
    }  # fmt: skip
