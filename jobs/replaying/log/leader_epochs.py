"""The first offset of each leader epoch of an offsets partition, from all records. Which records count depends on it,
also for kinds of records that a job does not read."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow.compute as pc

from jobs.replaying.log.opened import Opened, pieces
from jobs.replaying.log.row_groups import EPOCH, OFFSET, LogFile, RowGroup, Wanted


def epoch_begins(
    files: Mapping[str, Sequence[LogFile]],
    cluster: str,
    partitions: Collection[int],
    after_run: Mapping[int, str],
    opened: Opened,
) -> dict[int, dict[int, int]]:
    """By offsets partition and leader epoch, the lowest offset of a record."""
    by_partition: dict[int, dict[int, int]] = {}
    for partition in partitions:
        wanted = Wanted(cluster, partition, after_run.get(partition))
        begins = by_partition[partition] = {}
        for piece in (piece for some in files.values() for piece in pieces(some, wanted, opened)):
            for epoch, first in begins_of(piece, wanted, opened).items():
                begins[epoch] = min(first, begins.get(epoch, first))
    return by_partition


def begins_of(piece: RowGroup, wanted: Wanted, opened: Opened) -> dict[int, int]:
    """Mostly from the footer alone: a row group is of one partition, and leaders rarely change."""
    if piece.epoch is not None:
        return {piece.epoch: piece.first}
    rows = opened.read(piece, [OFFSET, EPOCH], wanted)
    rows = rows.filter(pc.and_(pc.is_valid(rows.column(OFFSET)), pc.is_valid(rows.column(EPOCH))))
    offsets, epochs = (np.asarray(rows.column(name).to_numpy()) for name in (OFFSET, EPOCH))
    return {epoch: int(offsets[epochs == epoch].min()) for epoch in np.unique(epochs).tolist()}
