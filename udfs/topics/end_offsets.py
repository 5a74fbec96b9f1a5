"""How long the end offset of a partition stayed the same, by snapshots. An owner that had read up to it had nothing to
read."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers, first_of, numbers

SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("end_offset", pa.int64()),
        # The first, the second and the last snapshot of the partition with this end, and the first with another.
        pa.field("from_time", pa.int64()),
        pa.field("second_time", pa.int64()),
        pa.field("to_time", pa.int64()),
        pa.field("next_time", pa.int64()),
    ]
)
TP = ("topic", "partition")


@dataclass(frozen=True)
class EndOffsets:
    """Rows by `SCHEMA`: periods with the same end offset in two or more snapshots, and the newest period of each
    partition."""

    stretches: pa.Table
    # Time of the newest snapshot; None if there is none.
    through_time: int | None = None

    @classmethod
    def none(cls) -> "EndOffsets":
        return cls(SCHEMA.empty_table())

    @classmethod
    def of(cls, rows: pa.Table) -> "EndOffsets":
        """From rows of topic_snapshots. A recreated topic has another id, so a new period begins."""
        # The output of kafka-topics has no end offsets.
        rows = rows.filter(rows.column("log_end_offset").is_valid())
        if not rows.num_rows:
            return cls.none()
        through = int(pc.max(rows.column("captured_time").cast(pa.int64())).as_py())
        rows = rows.sort_by([(name, "ascending") for name in (*TP, "captured_time")])
        topic, topic_id = codes(rows.column("topic")), codes(rows.column("topic_id"))
        time, end = numbers(rows.column("captured_time")), numbers(rows.column("log_end_offset"))
        is_first_of_tp = first_of(topic) | first_of(numbers(rows.column("partition").cast(pa.int64())))
        is_other_topic = first_of(topic_id) & (topic_id >= 0) & (np.append(-1, topic_id[:-1]) >= 0)
        starts = np.flatnonzero(is_first_of_tp | first_of(end) | is_other_topic)
        ends = np.append(starts[1:], len(time))
        is_newest = np.append(is_first_of_tp[starts[1:]], True)[: len(starts)]
        second = np.where(ends - starts > 1, time[np.minimum(starts + 1, len(time) - 1)], NONE)
        following = np.where(is_newest, NONE, time[np.minimum(ends, len(time) - 1)])
        columns = [time[starts], second, time[ends - 1], following]
        taken = rows.select([*TP, "log_end_offset"]).take(pa.array(starts)).rename_columns([*TP, "end_offset"])
        for name, values in zip(SCHEMA.names[3:], columns, strict=True):
            taken = taken.append_column(name, pa.array(values))
        return cls(taken.filter(pa.array((second != NONE) | is_newest)).cast(SCHEMA).combine_chunks(), through)

    def __len__(self) -> int:
        return int(self.stretches.num_rows)

    def column(self, name: str) -> Numbers:
        return numbers(self.stretches.column(name))

    def of_topics(self, topics: Collection[str]) -> "EndOffsets":
        known = pa.array(sorted(topics), pa.string())
        return EndOffsets(self.stretches.filter(pc.is_in(self.stretches.column("topic"), known)), self.through_time)

    def is_newest(self) -> Flags:
        return np.asarray(self.column("next_time") == NONE)


@dataclass(frozen=True, order=True)
class Awaited:
    """A partition that changed owners after its newest snapshot, at `seen_time`, when everything up to the end offset
    had been read. The next snapshot shows whether there was more to read."""

    topic: str
    partition: int
    end_offset: int
    seen_time: int


def fingerprint(
    ends: EndOffsets, seen_through: int | None, log_through: int | None, awaited: Collection[Awaited]
) -> str:
    """A hash of what rows depend on that were made when the newest snapshot was at `seen_through` and the log was read
    up to `log_through`. Later snapshots change it only if they change one of these."""
    seen = NONE if seen_through is None else seen_through
    until = NONE if log_through is None else log_through
    second, following = ends.column("second_time"), ends.column("next_time")
    is_known = (second != NONE) & (second <= seen)
    begins_late = (second != NONE) & (ends.column("from_time") > seen) & (ends.column("from_time") < until)
    # The end of the period was not known yet if the next end offset came later.
    to_time = np.where((following != NONE) & (following <= seen), ends.column("to_time"), NONE)
    chosen = np.flatnonzero(is_known | begins_late)
    some = ends.stretches.take(pa.array(chosen)).set_column(5, "to_time", pa.array(to_time[chosen]))
    # Sorted, since the periods are sorted too.
    lines = [*texts(some, [*SCHEMA.names[:4], "to_time"]), *texts(longer(ends, awaited), list(TP))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32] if lines else ""


def texts(rows: pa.Table, names: Sequence[str]) -> list[str]:
    """One text per row. Topic names contain no spaces."""
    columns = [rows.column(name).cast(pa.string()) for name in names]
    lines: list[str] = pc.binary_join_element_wise(*columns, " ").to_pylist()
    return lines


def longer(ends: EndOffsets, awaited: Collection[Awaited]) -> pa.Table:
    """Those with the same end offset in a later snapshot."""
    if not awaited or not len(ends):
        # Even a join of nothing takes a millisecond.
        return awaited_table(()).select(list(TP))
    rows = awaited_table(awaited).join(ends.stretches, list(TP), join_type="inner", use_threads=False)
    of = {name: numbers(rows.column(name)) for name in ("seen_end", "seen_time", "end_offset", "from_time", "to_time")}
    is_same = (of["end_offset"] == of["seen_end"]) & (of["from_time"] <= of["seen_time"])
    chosen = rows.filter(pa.array(is_same & (of["to_time"] > of["seen_time"])))
    return chosen.select(list(TP)).sort_by([(name, "ascending") for name in TP])


def awaited_table(awaited: Collection[Awaited]) -> pa.Table:
    columns = {"topic": pa.string(), "partition": pa.int32(), "seen_end": pa.int64(), "seen_time": pa.int64()}
    rows = [dict(zip(columns, astuple(each), strict=True)) for each in awaited]
    return pa.Table.from_pylist(rows, pa.schema(list(columns.items())))


def still_awaited(ends: EndOffsets, awaited: Collection[Awaited]) -> list[Awaited]:
    """Those without a later snapshot."""
    newest = ends.stretches.filter(pa.array(ends.is_newest()))
    times = dict(zip(zip(*(newest[name].to_pylist() for name in TP), strict=True), newest["to_time"].to_pylist(),
                     strict=True))  # fmt: skip
    return [each for each in awaited if times.get((each.topic, each.partition)) == each.seen_time]


def codes(names: pa.ChunkedArray) -> Numbers:
    """Equal names get equal numbers; -1 for NULL."""
    encoded = names.combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
