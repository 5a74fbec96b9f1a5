"""Histories of one offsets partition by hand or by chance: a few columns are given, the others are made up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES
from tests.oracles.lag.lag_at_snapshots import Captured, Place, SlowLag
from udfs.arrays.arrow_schema import table_schema
from udfs.lag.doubtful_times import DoubtfulTimes, doubtful_times
from udfs.lag.partition_history import COMMITS, READ, PartitionHistory
from udfs.lag.watermarks import COLUMNS, Watermarks

Row = dict[str, Any]
SECOND = 1_000_000
DAY = 86_400 * SECOND
MADE_UP: Row = {"": None, "group_type": "classic", "confidence": "certain", "via": "plain", "is_provisional": False}


def table(name: str, columns: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    schema = pa.schema([table_schema(TABLES[name]).field(each) for each in columns])
    return pa.Table.from_pylist([{each: row.get(each, MADE_UP.get(each)) for each in columns} for row in rows], schema)


def history(
    as_of: int,
    snapshots: dict[int, dict[Place, Captured]],
    doubtful: DoubtfulTimes = DoubtfulTimes(),  # noqa: B008
    **tables: Sequence[Row],
) -> PartitionHistory:
    captured = [
        {"captured_time": time, "topic": topic, "topic_id": each.topic_id, "partition": partition,
         "log_start_offset": each.start, "log_end_offset": each.end}
        for time, places in snapshots.items()
        for (topic, partition), each in places.items()
    ]  # fmt: skip
    return PartitionHistory(
        7,
        {name: table(name, columns, tables.get(name, ())) for name, columns in READ.items()},
        table("offset_commits", COMMITS, ()),
        Watermarks.of(table("topic_snapshots", COLUMNS, captured)),
        as_of,
        doubtful=doubtful,
    )


def commit(group: str, place: Place, value: int, begun: int, ended: int | None = None, **more: Any) -> Row:
    return {"group_id": group, "topic": place[0], "partition": place[1], "committed_offset": value, "topic_id": None,
            "from_time": begun, "to_time": ended, "from_record_offset": begun // SECOND, "ended_by": None,
            "leader_epoch": 3, **more}  # fmt: skip


def fast(history: PartitionHistory, rows: pa.Table, names: Sequence[str]) -> list[Row]:
    result = rows.select(list(names))
    for place, field in enumerate(result.schema):
        if pa.types.is_timestamp(field.type):
            result = result.set_column(place, field.name, result.column(place).cast(pa.int64()))
    return [dict(row) for row in result.to_pylist()]


def random_model(rng: np.random.Generator) -> SlowLag:
    """Few of everything, so that all that may meet does meet."""
    places = [(topic, partition) for topic in ("clicks", "orders") for partition in range(2)]
    model = SlowLag(
        offsets=[row for group in "ab" for place in places for row in random_commits(rng, group, place)],
        owners=[row for group in "abs" for place in places for row in random_owners(rng, group, place)],
        subscriptions=random_subscriptions(rng),
        snapshots={int(time) * SECOND: {} for time in rng.integers(0, 100, rng.integers(0, 12))},
        record_times=random_clock(rng) if rng.random() < 0.3 else [],
    )
    # Of the snapshots some lie before what is looked back at.
    model.snapshots = {time - (31 * DAY if rng.random() < 0.1 else 0): {} for time in model.snapshots}
    for place in places:
        end, topic_id = int(rng.integers(0, 50)), "1"
        for time in sorted(model.snapshots):
            grown = rng.integers(0, 40) * rng.integers(0, 2)
            end = int(end + grown if rng.random() < 0.9 else rng.integers(0, 50))
            topic_id = topic_id if rng.random() < 0.9 else str(int(topic_id) + 1)
            if rng.random() < 0.8:
                start = int(rng.integers(0, end + 1)) if rng.random() < 0.7 else None
                captured = Captured(some(rng, topic_id), start, end if rng.random() < 0.9 else None)
                model.snapshots[time][place] = captured
    # A snapshot without a partition leaves no row.
    model.snapshots = {time: captured for time, captured in model.snapshots.items() if captured}
    return model


def random_clock(rng: np.random.Generator) -> list[int]:
    """Of records of the log: it goes back once or twice, or never."""
    steps = rng.choice([1, 5, -15], 20, p=[0.6, 0.35, 0.05])
    return [int(second) * SECOND for second in np.cumsum(steps) + 10]


def some(rng: np.random.Generator, value: Any) -> Any:
    return value if rng.random() < 0.7 else None


def spans(rng: np.random.Generator) -> list[tuple[int, int | None]]:
    """One after the other, with gaps between some; the last may go on."""
    bounds = np.unique(rng.integers(0, 100, rng.integers(0, 8)) * SECOND).tolist()
    result = [each for each in zip(bounds, [*bounds[1:], None], strict=False) if rng.random() < 0.8]
    return [(begun, ended) for begun, ended in result if ended is not None or rng.random() < 0.7]


def random_commits(rng: np.random.Generator, group: str, place: Place) -> list[Row]:
    return [
        commit(group, place, int(rng.integers(-3, 150)), begun, ended, topic_id=some(rng, str(rng.integers(1, 3))),
               ended_by=None if ended is None else str(rng.choice(["commit", "deleted", "coverage_hole"])))
        for begun, ended in spans(rng)
    ]  # fmt: skip


def random_owners(rng: np.random.Generator, group: str, place: Place) -> list[Row]:
    return [
        {"group_id": group, "group_type": "share" if group == "s" else str(rng.choice(["classic", "streams"])),
         "topic": place[0], "topic_id": some(rng, str(rng.integers(1, 3))), "partition": place[1],
         "member_id": f"m{rng.integers(0, 9)}",
         "role": some(rng, str(rng.choice(["active", "standby"]))),
         "from_time": begun, "to_time": ended, "from_record_offset": begun // SECOND}
        for begun, ended in spans(rng)
    ]  # fmt: skip


def random_subscriptions(rng: np.random.Generator) -> list[Row]:
    """Of assignments that follow each other."""
    result = []
    for group in "ab":
        bounds = np.unique(rng.integers(0, 100, rng.integers(0, 4)) * SECOND).tolist()
        result += [
            {"group_id": group, "topics": [each for each in ("clicks", "orders", "gone") if rng.random() < 0.4],
             "from_time": begun, "to_time": ended}
            for begun, ended in zip(bounds, [*bounds[1:], None], strict=False)
        ]  # fmt: skip
    return result


def history_of(model: SlowLag, as_of: int = 200 * SECOND) -> PartitionHistory:
    subscribed = [{**row, "assignment_offset": row["from_time"] // SECOND} for row in model.subscriptions]
    doubtful = doubtful_times(np.arange(len(model.record_times)), np.array(model.record_times, np.int64))
    return history(
        as_of,
        model.snapshots,
        doubtful,
        offset_history=model.offsets,
        ownership_intervals=model.owners,
        rebalances=[{**row, "start_time": row["from_time"]} for row in subscribed],
        generation_members=[
            {**row, "member_id": member, "subscribed_topics": row["topics"]} for row in subscribed for member in "xy"
        ],
    )
