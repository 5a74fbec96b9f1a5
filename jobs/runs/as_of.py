"""Checks the as-of time: it must not be before the cluster's first record or snapshot, nor before history that was
dropped, nor in the future."""

from datetime import UTC, datetime, timedelta

import pyarrow.compute as pc

from jobs.command_line.values import EPOCH
from jobs.output.failure import Failure
from jobs.output.rows import time_text
from jobs.runs.dropped_history import REBUILD, history_dropped_before
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode

SOURCES = (("history_coverage", "from_time", "to_time"), ("topic_snapshots", "captured_time", "captured_time"))


def known_span(warehouse: Warehouse, cluster: str) -> tuple[datetime, datetime] | None:
    """The times of the cluster's first and newest record or snapshot; None if it has none."""
    times: list[datetime] = []
    for table, begins, ends in SOURCES:
        rows = warehouse.rows(table, sorted({begins, ends}), cluster)
        if rows is not None:
            times += [pc.min(rows[begins]).as_py(), pc.max(rows[ends]).as_py()]
    known = [time.astimezone(UTC) for time in times if time is not None]
    return (min(known), max(known)) if known else None


def newest_record_time(warehouse: Warehouse, cluster: str) -> datetime | None:
    rows = warehouse.rows("history_coverage", ["to_time"], cluster)
    newest = None if rows is None else pc.max(rows["to_time"]).as_py()
    return None if newest is None else newest.astimezone(UTC)


def check_as_of(warehouse: Warehouse, cluster: str, as_of_ms: int, started_ms: int) -> None:
    span = known_span(warehouse, cluster)
    if span is None:
        return
    oldest, newest = (millis(time) for time in span)
    dropped = history_dropped_before(warehouse, cluster)
    if as_of_ms < oldest:
        line = (
            f"is before the first record and snapshot of cluster {cluster}; give {time_text(span[0])} or a later time"
        )
    elif dropped is not None and as_of_ms < millis(dropped):
        line = f"`groupscope maintain` dropped history before {time_text(dropped)}; give a later time, or run {REBUILD}"
    elif as_of_ms > max(newest, started_ms):
        line = f"is in the future; give a time up to {time_of(max(newest, started_ms))}"
    else:
        return
    raise Failure(ExitCode.USAGE, f"--as-of {time_of(as_of_ms)}: {line}")


def time_of(ms: int) -> str:
    return time_text(EPOCH + timedelta(milliseconds=ms))


def millis(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)
