"""Spark and delta-rs read the same rows of tables on HDFS whose every version was written by us."""

from uuid import uuid4

import pytest
from deltalake import DeltaTable

from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import read_whole
from jobs.warehouses.delta_commits import commit
from jobs.warehouses.delta_tables import Change, RemovedFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from tests.make.tables import written

pytestmark = pytest.mark.spark

VERSIONS = 3
# Partitions and times, lists of structs, bytes.
NAMES = {
    "ownership_intervals": lambda number: [
        {"is_provisional": is_provisional, "topic": f'{number} "ü" %20', "partition": number}
        for is_provisional in (False, True)
    ],
    "classic_group_metadata": lambda number: [
        {"group_id": f"g{number}", "members": [{"member_id": "m", "client_id": 'x"y'}]}
    ],
    "rejected_records": lambda number: [{"record_offset": number, "key_bytes": b"\x00\xff"}],
}


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", NAMES)
def test_every_version_has_the_same_rows(name, hdfs, spark):
    storage = storage_at(f"{hdfs}/{uuid4().hex}/w", StorageOptions())
    warehouse, table, delta, old = Warehouse(RemotePlace(storage)), TABLES[name], None, ()
    for number in range(VERSIONS):
        added = written(warehouse, table, "run", NAMES[name](number))
        removed = tuple(RemovedFile(file.name, is_data_change=True) for file in old if file.is_provisional)
        delta = commit(warehouse.path(name), table, Change(added, removed), number + 1, number, delta)
        old = added
    place, options = storage.delta_uri(name), storage.delta_options
    for number in range(VERSIONS):
        log = read_whole(storage, f"{name}/_delta_log/{number:020}.json").decode()
        # delta-rs says its name.
        assert "engineInfo" not in log
        reader = spark.read.format("delta").option("versionAsOf", number)
        theirs, ours = reader.load(place).toArrow(), DeltaTable(place, number, storage_options=options)
        result = as_lines(theirs)
        assert result == as_lines(ours.to_pyarrow_table())
        expected = number + 1 + ("is_provisional" in theirs.column_names)
        assert len(result) == expected


def as_lines(rows):
    return sorted(repr(row) for row in rows.to_pylist())
