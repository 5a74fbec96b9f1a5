"""The first offset of each leader epoch of an offsets partition, from all records. Which records count depends on it,
also for kinds of records that a job does not read."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow.compute as pc

from jobs.replaying.log.files import EPOCH, OFFSET, LogFile, Opened, RowGroup, Wanted, bounds_of, pieces


def epoch_begins(
    files: Mapping[str, Sequence[LogFile]],
    cluster: str,
    partitions: Collection[int],
    after_run: Mapping[int, str],
    opened: Opened,
) -> dict[int, dict[int, int]]:
    """By offsets partition and leader epoch, the lowest offset of a record."""
    found: dict[int, dict[int, int]] = {}
    for partition in partitions:
        wanted = Wanted(cluster, partition, after_run.get(partition))
        begins = found[partition] = {}
        for piece in (piece for some in files.values() for piece in pieces(some, wanted, opened)):
            for epoch, first in begins_of(piece, wanted, opened).items():
                begins[epoch] = min(first, begins.get(epoch, first))
    return found


def begins_of(piece: RowGroup, wanted: Wanted, opened: Opened) -> dict[int, int]:
    """Mostly from the footer alone: a row group is of one partition, and leaders rarely change."""
    if not piece.is_mixed and (epoch := only_epoch(piece, opened)) is not None:
        return {epoch: piece.first}
    rows = opened.read(piece, [OFFSET, EPOCH], wanted)
    rows = rows.filter(pc.and_(pc.is_valid(rows.column(OFFSET)), pc.is_valid(rows.column(EPOCH))))
    offsets, epochs = (np.asarray(rows.column(name).to_numpy()) for name in (OFFSET, EPOCH))
    return {epoch: int(offsets[epochs == epoch].min()) for epoch in np.unique(epochs).tolist()}


def only_epoch(piece: RowGroup, opened: Opened) -> int | None:
    group = opened.footer(piece.path).row_group(piece.group)
    for place in range(group.num_columns):
        column = group.column(place)
        if column.path_in_schema in (OFFSET, EPOCH):
            if column.statistics is None or column.statistics.null_count or (bounds := bounds_of(column)) is None:
                return None
            if column.path_in_schema == EPOCH:
                epochs = bounds
    return int(epochs[0]) if epochs[0] == epochs[1] else None  # type: ignore[call-overload]
