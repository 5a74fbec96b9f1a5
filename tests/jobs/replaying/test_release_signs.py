"""Signs of releases in files of decoded tables, whatever row groups share: clusters, partitions, leader epochs."""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.release_signs import signs_in
from jobs.replaying.log.row_groups import LogFile
from jobs.storage.places.local_place import LocalPlace
from udfs.log import release_lines as lines
from udfs.log.release_lines import Sign

COLUMNS = {
    "offset_commits": {"value_version": pa.int32()},
    "classic_group_metadata": {"generation": pa.int32()},
    "group_metadata": {
        name: pa.int64()
        for name in ("metadata_hash", "validated_topology_epoch", "stored_description_topology_epoch",
                     "failed_description_topology_epoch")
    },
    "target_assignment_metadata": {"assignment_epoch": pa.int32(), "assignment_time": pa.int64()},
    "current_member_assignments": {"target_member_epoch": pa.int32()},
    "group_partition_metadata": {"group_type": pa.string(), "value_version": pa.int32(), "epoch": pa.int32()},
}  # fmt: skip
PLACE = {"cluster": pa.string(), "offsets_partition": pa.int32(), "partition_leader_epoch": pa.int32(),
         "record_time": pa.timestamp("us", "UTC")}  # fmt: skip


def at(second):
    return None if second is None else datetime.fromtimestamp(second, UTC)


def found(folder, name, rows, row_group_size):
    """`rows`: offsets partition, leader epoch, second, then the table's own columns; a first `other` is a cluster."""
    schema = pa.schema({**PLACE, **COLUMNS[name]})
    whole = [("c", *row) if row[0] != "other" else row for row in rows]
    columns = list(zip(*((cluster, *place, at(time), *own) for cluster, *place, time, own in whole), strict=True))
    path = folder / "rows.parquet"
    pq.write_table(pa.table(dict(zip(schema.names, map(list, columns), strict=True)), schema), path,
                   row_group_size=row_group_size)  # fmt: skip
    return signs_in({name: [LogFile(LocalPlace(path), 0, 9)]}, "c", Opened())


SECOND = 1_000_000
CASES = {
    "commits": (
        "offset_commits",
        [(0, 4, 1, (3,)), (0, 4, 2, (None,)), (0, 6, 3, (4,)), (1, None, 4, (0,)), (1, None, 5, (1,)),
         (2, 0, 6, (1,)), (3, 0, 7, (None,)), ("other", 5, 0, 8, (4,))],
        {0: (Sign(4, lines.COMMIT_3), Sign(6, lines.COMMIT_4)), 1: (Sign(-1, lines.COMMIT_3),)},
    ),
    "the first forms of 3.7": (
        "current_member_assignments",
        [(0, 2, 5, (7,)), (0, 2, 3, (8,)), (0, 4, 9, (None,)), ("other", 1, 0, 1, (7,)), (3, 0, None, (1,))],
        {0: (Sign(2, lines.EARLY_SHAPE, 3 * SECOND, 5 * SECOND),), 3: (Sign(0, lines.EARLY_SHAPE),)},
    ),
    "topics of consumer groups": (
        "group_partition_metadata",
        [(0, 0, 1, ("consumer", 0, None)), (1, 0, 2, ("consumer", 0, 5)), (2, 0, 3, ("share", 0, None)),
         (3, 0, 4, ("consumer", None, None))],
        {0: (Sign(0, lines.LISTED_TOPICS, SECOND, SECOND),),
         1: (Sign(0, lines.EARLY_SHAPE, 2 * SECOND, 2 * SECOND),)},
    ),
    "targets": (
        "target_assignment_metadata",
        [(0, 0, 1, (2, None)), (0, 2, 2, (3, 99)), (1, 0, 3, (None, None))],
        {0: (Sign(0, lines.TARGET, SECOND, SECOND), Sign(2, lines.TARGET, 2 * SECOND, 2 * SECOND),
             Sign(2, lines.TIMED_TARGET, 2 * SECOND, 2 * SECOND))},
    ),
    "epochs of groups": (
        "group_metadata",
        [(0, 0, 1, (5, None, None, None)), (1, 0, 2, (None, 0, None, None)), (2, 0, 3, (None, None, None, 4)),
         (3, 0, 4, (None, None, -2, None)), (4, 0, 5, (None, None, None, None))],
        {0: (Sign(0, lines.HASHED_TOPICS, SECOND, SECOND),),
         1: (Sign(0, lines.VALIDATED, 2 * SECOND, 2 * SECOND),),
         2: (Sign(0, lines.DESCRIBED, 3 * SECOND, 3 * SECOND),),
         3: (Sign(0, lines.DESCRIBED, 4 * SECOND, 4 * SECOND),)},
    ),
    "classic groups that new coordinators begin": (
        "classic_group_metadata",
        [(0, 0, 1, (0,)), (1, 0, 2, (1,)), (2, 0, 3, (None,))],
        {0: (Sign(0, lines.NEW_GROUP, SECOND, SECOND),)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row_group_size", [1, 2, 100])
@pytest.mark.parametrize("name", CASES)
def test_each_record_shows_what_only_some_releases_write(name, row_group_size, tmp_path):
    table, rows, expected = CASES[name]
    assert found(tmp_path, table, rows, row_group_size) == expected
