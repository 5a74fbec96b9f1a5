"""How many bytes and commits each group adds to the offsets topic, by hour: arrays over all commits at once."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Flags, numbers
from udfs.arrays.texts import as_texts
from udfs.lag.as_of import NOWHERE, holding_at, key_codes
from udfs.lag.partition_history import PartitionHistory, only
from udfs.rules.measure import Measure

Numbers = np.ndarray
SECOND = 1_000_000
SLOT, MINUTE, HOUR = 5 * SECOND, 60 * SECOND, 3600 * SECOND
SLOTS = HOUR // SLOT
KEY = ("group_id", "topic", "partition")
COUNTS = ("num_commits", "num_bytes", "num_unchanged", "num_at_5_s")
WRITTEN = pa.schema(
    [field for field in table_schema(TABLES["commit_volume"]) if field.name not in ("cluster", "is_provisional")]
)


class Volume(Measure):
    """One row for each group and hour that ends after `settled_from`, by record time; records without one have none.
    `hours`, `minutes`: counts of each range of keys; the peak of an hour is that of all keys."""

    def __init__(self, settled_from: int | None) -> None:
        self.settled_from = settled_from
        self.hours: list[pa.Table] = []
        self.minutes: list[pa.Table] = []

    def take(self, history: PartitionHistory) -> None:
        hours, minutes = counts(history, self.settled_from)
        self.hours.append(hours)
        self.minutes.append(minutes)

    def rows(self, history: PartitionHistory) -> pa.Table:
        minutes = added_up(self.minutes, "minute")
        peaks = minutes.append_column("hour", pa.array(numbers(minutes["minute"]) // (HOUR // MINUTE)))
        peaks = peaks.group_by(["group_id", "hour"]).aggregate([("num_commits", "max")])
        hours = added_up(self.hours, "hour").join(peaks, ["group_id", "hour"])
        num_commits, num_unchanged = numbers(hours["num_commits"]), numbers(hours["num_unchanged"])
        columns = {name: hours[name] for name in ("group_id", *COUNTS)} | {
            "hour_time": pa.array(numbers(hours["hour"]) * HOUR).cast(pa.timestamp("us", "UTC")),
            "offsets_partition": pa.array(np.full(hours.num_rows, history.offsets_partition, np.int32)),
            "share_unchanged": pa.array(num_unchanged / np.maximum(num_commits, 1)),
            "peak_per_minute": hours["num_commits_max"],
        }
        written = pa.table([columns[name] for name in WRITTEN.names], schema=WRITTEN)
        return written.filter(pa.array(num_commits > 0)).sort_by(
            [("hour_time", "ascending"), ("group_id", "ascending")]
        )


def added_up(parts: list[pa.Table], time: str) -> pa.Table:
    """Of all ranges of keys, by group and time."""
    rows = pa.concat_tables(parts)
    names = [name for name in rows.column_names if name not in ("group_id", time)]
    sums = rows.group_by(["group_id", time]).aggregate([(name, "sum") for name in names])
    return sums.select(["group_id", time, *(f"{name}_sum" for name in names)]).rename_columns(rows.column_names)


def counts(history: PartitionHistory, settled_from: int | None) -> tuple[pa.Table, pa.Table]:
    """By group and hour, and commits alone by group and minute."""
    is_unsettled = are_unsettled(history.commits, settled_from)
    records = only(history.commits, is_unsettled).combine_chunks()
    keys = only(history.commit_keys, is_unsettled)
    time = records["record_time"].cast(pa.int64()).to_numpy()
    is_commit = ~records["is_tombstone"].to_numpy()
    (key,) = key_codes(KEY, keys)
    hour, hour_rows = codes(time // HOUR)
    hours = time[hour_rows] // HOUR
    # Records of one key and hour follow each other, in the order of the log.
    run, run_rows = codes(key * len(hours) + hour)
    order = sorted_places(run)
    is_first = are_new(run[order])
    (group,) = key_codes(("group_id",), keys)
    cell, cell_rows = codes(group[run_rows] * len(hours) + hour[run_rows])
    of, num_cells = cell[run], len(cell_rows)
    unchanged = is_commit[order] & are_unchanged(history, records, keys, order, is_first)
    sizes = records["record_bytes"].to_numpy()
    first = run_rows[cell_rows]
    groups = as_texts(keys.select(["group_id"]).take(pa.array(first)))["group_id"]
    by_hour = {
        "group_id": groups,
        "hour": pa.array(hours[hour[first]]),
        "num_commits": pa.array(np.bincount(of[is_commit], minlength=num_cells)),
        "num_bytes": pa.array(np.bincount(of[is_commit], sizes[is_commit], num_cells).astype(np.int64)),
        "num_unchanged": pa.array(np.bincount(of[order][unchanged], minlength=num_cells)),
        "num_at_5_s": pa.array(np.bincount(cell[slots(run, time, is_commit)], minlength=num_cells)),
    }
    minute, minute_rows = codes((of * (HOUR // MINUTE) + time % HOUR // MINUTE)[is_commit])
    of_minute = of[is_commit][minute_rows]
    by_minute = {
        "group_id": groups.take(pa.array(of_minute)),
        "minute": pa.array(time[is_commit][minute_rows] // MINUTE),
        "num_commits": pa.array(np.bincount(minute, minlength=len(minute_rows))),
    }
    return pa.table(by_hour), pa.table(by_minute)


def are_unsettled(commits: pa.Table, settled_from: int | None) -> Flags:
    time = numbers(commits["record_time"])
    return np.asarray(time != NONE if settled_from is None else time >= settled_from // HOUR * HOUR, np.bool_)


def codes(values: Numbers | pa.Array) -> tuple[Numbers, Numbers]:
    """A number for each distinct value, and for each number a place that has it."""
    encoded = pa.array(values).dictionary_encode()
    numbered = encoded.indices.to_numpy().astype(np.int64)
    places = np.zeros(len(encoded.dictionary), np.int64)
    places[numbered] = np.arange(len(numbered))
    return numbered, places


def are_new(values: Numbers) -> Numbers:
    """Whether the value differs from the one before."""
    is_new = np.ones(len(values), np.bool_)
    is_new[1:] = values[1:] != values[:-1]
    return is_new


def sorted_places(values: Numbers) -> Numbers:
    """The order of small numbers, equal ones as they come. Sorting one array of integers is several times faster than
    sorting places by another one."""
    number = max(len(values), 1)
    return np.sort(values * number + np.arange(len(values))) % number


def are_unchanged(
    history: PartitionHistory, records: pa.Table, keys: pa.Table, order: Numbers, is_first: Numbers
) -> Numbers:
    """In this order: whether the record commits the offset that the record of the key before left. A deleted offset is
    none. The first of an hour is compared with what held as the hour began."""
    value = pc.fill_null(records["committed_offset"], 0).to_numpy()[order]
    has_value = ~records["is_tombstone"].to_numpy()[order]
    is_unchanged = np.zeros(len(order), np.bool_)
    is_unchanged[1:] = (value[1:] == value[:-1]) & has_value[:-1]
    firsts = np.flatnonzero(is_first)
    wanted = keys.take(pa.array(order[firsts]))
    begins = records["record_time"].cast(pa.int64()).to_numpy()[order[firsts]] // HOUR * HOUR
    held = held_offsets(history, wanted, begins)
    is_unchanged[firsts] = pc.fill_null(pc.equal(held, pa.array(value[firsts])), False).to_numpy(zero_copy_only=False)
    return is_unchanged


def held_offsets(history: PartitionHistory, wanted: pa.Table, times: Numbers) -> pa.Array:
    """The offset of each key just before the time, which begins an hour; NULL: none."""
    rows = history.table("offset_history").select(["committed_offset", "from_time", "to_time"])
    begins, ends = numbers(rows["from_time"]), numbers(rows["to_time"])
    # Most values do not outlive their hour.
    outlive = np.flatnonzero(begins // HOUR != ends // HOUR)
    have, want = key_codes(KEY, history.offset_keys.take(pa.array(outlive)), wanted)
    place = holding_at(have, begins[outlive], ends[outlive], want, times - 1)
    committed = rows["committed_offset"].take(pa.array(outlive)).combine_chunks()
    return committed.take(pa.array(place, mask=place == NOWHERE))


def slots(run: Numbers, time: Numbers, is_commit: Numbers) -> Numbers:
    """The run of each slot of 5 s that has a commit."""
    slot = np.sort(run[is_commit] * SLOTS + (time % HOUR // SLOT)[is_commit])
    return np.asarray(slot[are_new(slot)] // SLOTS)
