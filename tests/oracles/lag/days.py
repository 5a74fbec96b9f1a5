"""Days and minutes of lag, one row of lag_points after the other, with dictionaries and sorted lists."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

Row = dict[str, Any]
SUBJECT = ("cluster", "group_id", "topic", "topic_id", "evidence_partition")


def with_days(tables: Mapping[str, Any]) -> dict[str, Any]:
    """With the tables that `lag` makes of these points."""
    points = [dict(row) for row in tables.get("lag_points", ())]
    return {**tables, "lag_days": slow_days(points), "lag_minutes": slow_minutes(points)}


def slow_days(points: Iterable[Row]) -> list[Row]:
    return [slow_day(day, rows) for day, rows in sorted_by(points, "day_time")]


def slow_minutes(points: Iterable[Row]) -> list[Row]:
    return [slow_minute(minute, rows) for minute, rows in sorted_by(points, "minute_time")]


def sorted_by(points: Iterable[Row], name: str) -> list[tuple[datetime, list[Row]]]:
    result: dict[Any, list[Row]] = {}
    for row in points:
        time = minute_of(row) if name == "minute_time" else day_of(row)
        result.setdefault((time, *(row.get(each) for each in SUBJECT)), []).append(row)
    return [(key[0], rows) for key, rows in result.items()]


def minute_of(row: Row) -> datetime:
    time: datetime = row["snapshot_time"]
    return time.replace(second=0, microsecond=0)


def day_of(row: Row) -> datetime:
    return minute_of(row).replace(hour=0, minute=0)


def slow_day(day: datetime, rows: list[Row]) -> Row:
    methods = {row.get("time_lag_method", "a") for row in rows if row.get("time_lag_ms") is not None}
    return {
        "day_time": day,
        **about(rows),
        "num_minutes": len({minute_of(row) for row in rows}),
        "num_minutes_unknown": len({minute_of(row) for row in rows if row.get("lag") is None}),
        "num_minutes_known": len({minute_of(row) for row in rows if row.get("time_lag_ms") is not None}),
        **ranked("lag", rows),
        **ranked("time_lag_ms", rows),
        "time_lag_method": methods.pop() if len(methods) == 1 else None,
    }


def slow_minute(minute: datetime, rows: list[Row]) -> Row:
    known = [row for row in rows if row.get("time_lag_ms") is not None]
    return {
        "minute_time": minute,
        "day_time": day_of(rows[0]),
        **about(rows),
        "time_lag_ms_max": max((row["time_lag_ms"] for row in known if not row.get("is_provisional")), default=None),
        "open_time_lag_ms_min": min((row["time_lag_ms"] for row in known if row.get("is_provisional")), default=None),
    }


def about(rows: list[Row]) -> Row:
    given = {name: rows[0][name] for name in SUBJECT if name in rows[0]}
    return {
        **given,
        "group_type": max(row.get("group_type", "a") for row in rows),
        "num_points": len(rows),
        "evidence_first_offset": min(row.get("evidence_first_offset", 0) for row in rows),
        "evidence_last_offset": max(row.get("evidence_last_offset", 0) for row in rows),
        "confidence": max(row.get("confidence", "a") for row in rows),
    }


def ranked(name: str, rows: list[Row]) -> Row:
    """The smallest value that so many in 100 are not above."""
    known = sorted(row[name] for row in rows if row.get(name) is not None)
    result: Row = {f"{name}_max": known[-1] if known else None}
    for percent in (50, 95, 99):
        reached = (value for place, value in enumerate(known, 1) if place * 100 >= percent * len(known))
        result[f"{name}_p{percent}"] = next(reached, None)
    return result
