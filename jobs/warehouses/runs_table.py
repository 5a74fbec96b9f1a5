"""The table `runs`: every run reads it and adds a row."""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, files_of, rows_of
from jobs.warehouses.manifest import RUNS, Manifest
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES, Table

MOST_FILES = 16
VERSIONS = "table_versions"
# Columns that runs read of earlier ones. The counts of ingests are long, and only people read them.
ASKED_OF_RUNS = tuple(column.name for column in TABLES[RUNS].columns if column.name != "ingest_counts")


def with_few_files(delta: DeltaTable, folder: Place, table: Table, new: DataFile, manifest: Manifest) -> Change:
    """One file per run would be thousands of files after some weeks, and every run reads all rows."""
    held = files_of(delta).column("path").to_pylist()
    forget_before, former = manifest.forget_versions_before, manifest.former
    if len(held) < MOST_FILES and forget_before is None and not former:
        return Change((new,))
    rows = rows_of(delta, folder, table)
    left = rows if forget_before is None else without_versions(rows, forget_before)
    left = with_new_names(left, former) if former else left
    is_changed = not left.equals(rows)
    whole = TableFile(folder, table, manifest.run_id)
    whole.write(left)
    done = whole.close()
    assert done is not None
    removed = tuple(RemovedFile(path, is_data_change=is_changed) for path in held)
    return Change((replace(done, is_data_change=is_changed), new), removed)


def with_new_names(rows: pa.Table, former: Mapping[str, str]) -> pa.Table:
    """`former`: the names of tables by those that they had. Such a table begins anew with its new name, so what earlier
    runs named of it is its first version."""
    place = rows.schema.get_field_index(VERSIONS)
    field = rows.schema.field(place)
    named = [
        each and sorted((former.get(name, name), 0 if name in former else version) for name, version in each)
        for each in rows.column(place).to_pylist()
    ]
    return rows.set_column(place, field, pa.array(named, field.type))


def without_versions(rows: pa.Table, before: str) -> pa.Table:
    """The versions of a run that nobody can read any more would mislead, and every run would read them."""
    old = pc.less(rows.column("run_id"), before)
    place = rows.schema.get_field_index(VERSIONS)
    column = rows.column(place)
    kept = column.filter(pc.invert(old))
    # Arrow cannot choose between maps.
    take = pc.subtract(pc.cumulative_sum(pc.cast(pc.invert(old), pa.int64())), 1)
    at = pc.if_else(old, pa.scalar(None, pa.int64()), take)
    return rows.set_column(place, rows.schema.field(place), kept.take(at))
