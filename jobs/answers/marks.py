"""Marks of deployments and changes, and which events of groups happened soon after one."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import pyarrow as pa

from jobs.answers.table_reader import Row
from jobs.warehouses.warehouse import Warehouse
from udfs.sentences.durations import in_words

SOON = timedelta(minutes=10)
ORDER = tuple((name, "ascending") for name in ("recorded_time", "mark_time", "text", "group_pattern"))


def numbered(rows: pa.Table) -> list[Row]:
    """The marks of one cluster, removed ones too, with their numbers: in the order in which they were recorded. So the
    number of a mark never changes."""
    ordered = rows.sort_by(list(ORDER)).to_pylist()
    return [{"number": number, **row} for number, row in enumerate(ordered, start=1)]


def current_marks(warehouse: Warehouse, cluster: str) -> list[Row]:
    """Without removed ones, in the order of their times."""
    rows = warehouse.rows("marks", cluster=cluster)
    marks = [] if rows is None else numbered(rows)
    return sorted((row for row in marks if row["removed_time"] is None), key=lambda row: row["mark_time"])


def marks_about(marks: Iterable[Row], group: str) -> list[Row]:
    return [mark for mark in marks if is_about(mark["group_pattern"], group)]


def is_about(pattern: str | None, group: str) -> bool:
    try:
        return pattern is None or re.search(pattern, group) is not None
    except re.error:
        # Written by another program, or by a release of Python that knew more.
        return False


def mark_before(marks: Sequence[Row], at: datetime | None) -> Row | None:
    """The newest of these marks within the ten minutes before the time. `marks`: about one group, in order."""
    soon = (mark for mark in reversed(marks) if at is not None and mark["mark_time"] <= at <= mark["mark_time"] + SOON)
    return next(soon, None)


def after_words(mark: Row, at: datetime) -> str:
    """Such as `23 s after the mark "billing 2.4.1"`."""
    return f'{delay_words(mark, at)} after the mark "{mark["text"]}"'


def delay_words(mark: Row, at: datetime) -> str:
    return in_words((at - mark["mark_time"]) // timedelta(microseconds=1))
