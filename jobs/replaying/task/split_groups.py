"""Groups with records in several offsets partitions. If the number of offsets partitions is unknown, this alone proves
that some records of the group are where no coordinator reads them."""

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.opened import Opened, pieces
from jobs.replaying.log.partition import COMMITS, GROUP_TABLES
from jobs.replaying.log.row_groups import LogFile, Wanted
from jobs.replaying.task.replay_messages import SplitGroups

# Tables whose records name a group.
NAMING = (COMMITS, *GROUP_TABLES)


def split_groups(
    files: Mapping[str, Sequence[LogFile]], cluster: str, partitions: Collection[int], opened: Opened
) -> SplitGroups:
    if len(partitions) < 2:
        return ()
    names = {place: named_in(files, Wanted(cluster, place), opened) for place in sorted(partitions)}
    counted = pa.chunked_array(list(names.values()), pa.string()).value_counts()
    several = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
    places: dict[str, list[int]] = {}
    for place, group_ids in names.items():
        for group_id in group_ids.filter(pc.is_in(group_ids, value_set=several)).to_pylist():
            places.setdefault(group_id, []).append(place)
    return tuple((group_id, tuple(places[group_id])) for group_id in sorted(places))


def named_in(files: Mapping[str, Sequence[LogFile]], wanted: Wanted, opened: Opened) -> pa.Array:
    """Groups of one offsets partition, each once."""
    parts = [
        pc.unique(opened.read(piece, ["group_id"], wanted).column("group_id")).cast(pa.string())
        for name in NAMING
        for piece in pieces(files.get(name, ()), wanted, opened)
    ]
    return pc.unique(pa.chunked_array(parts, pa.string()))
