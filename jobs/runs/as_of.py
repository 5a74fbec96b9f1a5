"""Checks the as-of time: it must not be before the cluster's first record or snapshot, nor in the future."""

from datetime import UTC, datetime, timedelta

import pyarrow.compute as pc

from jobs.command_line.flags import EPOCH
from jobs.output.failure import Failure
from jobs.runs.result import iso
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


def check_as_of(as_of_ms: int, started_ms: int, span: tuple[datetime, datetime] | None, cluster: str) -> None:
    if span is None:
        return
    oldest, newest = ((time - EPOCH) // timedelta(milliseconds=1) for time in span)
    if as_of_ms < oldest:
        told = f"is before the first record and snapshot of cluster {cluster}; give {iso(oldest)} or a later time"
    elif as_of_ms > max(newest, started_ms):
        told = f"is in the future; give a time up to {iso(max(newest, started_ms))}"
    else:
        return
    raise Failure(ExitCode.USAGE, f"--as-of {iso(as_of_ms)}: {told}")
