"""Groups with records in several offsets partitions. If the number of offsets partitions is unknown, this alone proves
that some records of the group are where no coordinator reads them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.partition import COMMITS, GROUP_TABLES
from jobs.replaying.log.row_groups import PARTITION, LogFile, Wanted, piece_of
from jobs.replaying.task.replay_messages import SplitGroups
from udfs.arrays.nullable import Numbers, numbers
from udfs.codes.names import Names

# Tables whose records name a group.
NAMING = (COMMITS, *GROUP_TABLES)
# A group's code and an offsets partition are one number.
PARTITION_BITS = 32
GROUPS = pa.schema([("group_id", pa.string()), (PARTITION, pa.int64())])


def split_groups(
    files: Mapping[str, Sequence[LogFile]], cluster: str, partitions: Collection[int], opened: Opened
) -> SplitGroups:
    if len(partitions) < 2:
        return ()
    listed = (file for name in NAMING for file in files.get(name, ()))
    parts = [distinct(rows) for file in listed for rows in groups_in(file, cluster, opened)]
    # Numbered all at once: each further name would be compared with all that are known.
    names = Names()
    places = np.unique(places_of(pa.concat_tables([GROUPS.empty_table(), *parts]), names))
    groups, of_place = taken_apart(places)
    is_ours = np.isin(of_place, sorted(partitions))
    groups, of_place = groups[is_ours], of_place[is_ours]
    is_split = np.bincount(groups, minlength=len(names))[groups] > 1
    found = zip(names.column(groups[is_split]).to_pylist(), of_place[is_split].tolist(), strict=True)
    by_group = groupby(sorted(found), key=lambda each: each[0])
    return tuple((group_id, tuple(place for _, place in of_group)) for group_id, of_group in by_group)


def groups_in(file: LogFile, cluster: str, opened: Opened) -> Iterator[pa.Table]:
    """Groups in records of a cluster, with their offsets partitions, a row group at a time."""
    for bounds in opened.bounds(file.path):
        partition, _ = bounds.of[PARTITION] or (0, 0)
        piece = piece_of(file.path, bounds, Wanted(cluster, int(partition)))  # type: ignore[call-overload]
        if piece is None:
            continue
        rows = opened.row_group(piece, ["group_id"])
        if piece.is_mixed:
            rows = rows.filter(pc.and_(pc.equal(rows["cluster"], cluster), rows[PARTITION].is_valid()))
            yield rows.select(["group_id", PARTITION])
        else:
            groups = pc.unique(rows["group_id"])
            yield pa.table({"group_id": groups, PARTITION: pa.repeat(pa.scalar(partition, pa.int64()), len(groups))})


def distinct(rows: pa.Table) -> pa.Table:
    names = Names()
    groups, partitions = taken_apart(places_of(rows, names))
    return pa.table([names.column(groups).dictionary_decode(), pa.array(partitions)], schema=GROUPS)


def places_of(rows: pa.Table, names: Names) -> Numbers:
    """The distinct places of groups, each a group's code and an offsets partition."""
    codes = names.codes(rows["group_id"])
    places = codes << PARTITION_BITS | numbers(rows[PARTITION].cast(pa.int64()))
    return np.asarray(pc.unique(pa.array(places[codes >= 0])).to_numpy())


def taken_apart(places: Numbers) -> tuple[Numbers, Numbers]:
    return places >> PARTITION_BITS, places & ((1 << PARTITION_BITS) - 1)
