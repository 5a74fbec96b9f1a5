"""The table `runs`: every run reads it and adds a row."""

from dataclasses import replace

from deltalake import DeltaTable

from jobs.storage.stored_path import Place
from jobs.warehouses.delta_tables import Change, DataFile, Removed, files_of, rows_of
from jobs.warehouses.manifest import RUNS
from jobs.warehouses.table_files import TableFile
from schemas.contract.tables import TABLES
from schemas.declarations.columns import Table

MOST_FILES = 16
# Columns that runs read of earlier ones. The counts of ingests are long, and only people read them.
ASKED_OF_RUNS = tuple(column.name for column in TABLES[RUNS].columns if column.name != "ingest_counts")


def with_few_files(delta: DeltaTable, folder: Place, table: Table, new: DataFile, run_id: str) -> Change:
    """One file per run would be thousands of files after some weeks, and every run reads all rows."""
    held = files_of(delta).column("path").to_pylist()
    if len(held) < MOST_FILES:
        return Change((new,))
    whole = TableFile(folder, table, run_id)
    whole.write(rows_of(delta, table, folder=folder))
    done = whole.close()
    assert done is not None
    removed = tuple(Removed(path, is_data_change=False) for path in held)
    return Change((replace(done, is_data_change=False), new), removed)
