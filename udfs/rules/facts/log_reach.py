"""The time up to which the log of an offsets partition was read, after which its groups only look silent; and the end
of that partition in each snapshot."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.nullable import Numbers, numbers
from udfs.lag.as_of import at
from udfs.lag.partition_history import PartitionHistory


def known_until(history: PartitionHistory) -> int:
    """At most the time that is asked about. The log is known up to its newest record, and further where a snapshot
    shows that its end was then no higher than what is known: nothing was written in between."""
    coverage = history.table("history_coverage")
    is_ours = pc.equal(coverage.column("offsets_partition"), history.offsets_partition)
    coverage = coverage.filter(pc.fill_null(is_ours, False))
    if not coverage.num_rows:
        return history.as_of_time
    last_offset = int(numbers(coverage.column("last_offset")).max())
    newest = int(numbers(coverage.column("to_time")).max())
    confirmed = times_without_more(history, last_offset)
    return min(history.as_of_time, max(newest, int(confirmed.max(initial=newest))))


def times_without_more(history: PartitionHistory, last_offset: int) -> np.ndarray:
    """Of snapshots that show no record beyond this one, not after the time that is asked about."""
    marks = history.watermarks
    place = own_place(history)
    first = int(marks.oldest(place)[0])
    last = int(marks.at(place, np.array([history.as_of_time]))[0])
    rows = slice(max(first, 0), last + 1)
    return np.asarray(marks.row_times[rows][marks.end_offsets[rows] <= last_offset + 1])


def own_place(history: PartitionHistory) -> Numbers:
    """The number of the offsets partition itself among those of snapshots."""
    partition = pa.table({"topic": [OFFSETS_TOPIC], "partition": pa.array([history.offsets_partition], pa.int32())})
    return history.watermarks.first_places(partition)


def own_ends(history: PartitionHistory, rows: Numbers) -> Numbers:
    """The end of the offsets partition itself in the snapshots of these rows; NONE: they do not say. Records from there
    on were written after the snapshot was taken, whatever time it gives itself."""
    marks = history.watermarks
    place = np.repeat(own_place(history), len(rows))
    return at(marks.end_offsets, marks.after(place, at(marks.row_times, rows)))
