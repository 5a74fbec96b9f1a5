"""When a log ends that has not gone on for long before a run, such as an old copy. That alone is no finding: only if an
earlier run could have read more."""

from datetime import datetime, timedelta

import pyarrow.compute as pc

from jobs.runs.as_of import newest_record_time
from jobs.warehouses.warehouse import Warehouse
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.durations import in_words


def old_log_end(warehouse: Warehouse, cluster: str, started: datetime, hours: int) -> datetime | None:
    """None: newer than so many hours, or not known."""
    end = newest_record_time(warehouse, cluster)
    # Of a log that goes on no snapshot need be looked at, and there are many.
    if end is None or not is_old(end, None, started, hours):
        return None
    return end if is_old(end, newest_end_time(warehouse, cluster, started), started, hours) else None


def newest_end_time(warehouse: Warehouse, cluster: str, until: datetime) -> datetime | None:
    """Of the snapshots that show how far the log goes."""
    rows = warehouse.rows("topic_snapshots", ["topic", "captured_time"], cluster)
    if rows is None:
        return None
    times = rows.filter(pc.and_(pc.equal(rows["topic"], OFFSETS_TOPIC), pc.less_equal(rows["captured_time"], until)))
    newest: datetime | None = pc.max(times["captured_time"]).as_py()
    return newest


def is_old(end: datetime, shown: datetime | None, started: datetime, hours: int) -> bool:
    """`end`: of the log; `shown`: when a snapshot showed how far it goes; 0 hours: no log is old."""
    # Compared as a length of time: there may be no such year.
    return hours > 0 and started - max(end, shown or end) > timedelta(hours=min(hours, timedelta.max.days * 24))


def old_log_text(end: str, before: timedelta) -> str:
    """`end`: the time as the page writes it."""
    return f"The log ends {end}, {in_words(before // timedelta(microseconds=1))} before this run"
