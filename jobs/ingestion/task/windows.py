"""Reads records in spans of a size that decodes efficiently, and several copies side by side."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from jobs.ingestion.task.messages import Counts
from schemas.words.records import Part
from udfs.framing.log_bytes.framed_records import Records
from udfs.rows.merge_copies import REJECTED


def slice_records(records: Records, start: int, stop: int) -> Records:
    return records.take(np.arange(start, stop))


def windows(copies: list[Iterator[Records]]) -> Iterator[tuple[int, list[Records]]]:
    """Spans of offsets that every copy has been read up to: the last offset, and the records of each copy."""
    waiting = {number: first for number, copy in enumerate(copies) if (first := next(copy, None)) is not None}
    while waiting:
        last = min(int(records.offset[-1]) for records in waiting.values())
        parts = []
        for number, records in list(waiting.items()):
            stop = int(np.searchsorted(records.offset, last, side="right"))
            if stop:
                parts.append(slice_records(records, 0, stop))
            rest = slice_records(records, stop, len(records)) if stop < len(records) else next(copies[number], None)
            if rest is None:
                del waiting[number]
            else:
                waiting[number] = rest
        yield last, parts


def note_offsets(counts: Counts, offsets: NDArray[np.int64]) -> None:
    """Offsets ascend from call to call."""
    if counts.last_offset is None:
        counts.first_offset = int(offsets[0])
    elif offsets[0] > counts.last_offset + 1:
        counts.gaps += 1
    counts.gaps += int(np.count_nonzero(np.diff(offsets) > 1))
    counts.last_offset = int(offsets[-1])


def read_offsets(sources: list[dict[str, pa.Table]]) -> NDArray[np.int64]:
    """Offsets of all records whose bytes exist, including those that cannot be decoded."""
    columns = [
        (without_damage(rows) if name == REJECTED else rows).column("record_offset").to_numpy()
        for source in sources
        for name, rows in source.items()
    ]
    return np.unique(np.concatenate(columns)) if columns else np.zeros(0, np.int64)


def without_damage(rejected: pa.Table) -> pa.Table:
    return rejected.filter(pc.not_equal(rejected.column("part"), Part.BATCH.value))


def runs_of(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last offset of each range without a gap."""
    return runs_cut(offsets, np.diff(offsets) > 1)


def runs_replaced(replaced: NDArray[np.int64], held: dict[str, pa.Table]) -> list[tuple[int, int]]:
    """Ranges of offsets in which no decoded row of `held` that has no leader epoch stays. Compaction leaves gaps nearly
    everywhere, so ranges that end at each gap would be far more."""
    columns = [
        rows.filter(rows.column("partition_leader_epoch").is_null()).column("record_offset").to_numpy()
        for name, rows in held.items()
        if name != REJECTED and len(replaced)
    ]
    stay = np.setdiff1d(np.concatenate([*columns, np.zeros(0, np.int64)]), replaced)
    return runs_cut(replaced, np.diff(np.searchsorted(stay, replaced)) > 0)


def runs_cut(offsets: NDArray[np.int64], is_cut: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """`is_cut`: between which neighbors a range ends."""
    if not len(offsets):
        return []
    bounds = [0, *(np.flatnonzero(is_cut) + 1).tolist(), len(offsets)]
    return [(int(offsets[start]), int(offsets[stop - 1])) for start, stop in pairwise(bounds)]
