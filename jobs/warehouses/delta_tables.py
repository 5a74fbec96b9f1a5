"""Delta tables as jobs open and read them, and what a run changes in one. Commits: `delta_commits.py`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from jobs.output.failure import without_frames
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.warehouses.files.damaged_tables import Damaged, check_commits, damage_of_file, damage_of_log
from jobs.warehouses.older_tables import with_missing_columns
from schemas.tables import Table
from udfs.arrays.arrow_schema import table_schema

APPLICATION = "groupscope"
# Errors that reading a damaged table or file may raise.
UNREADABLE = (DeltaError, OSError, pa.ArrowException, ValueError)
IS_PROVISIONAL = "is_provisional"


@dataclass(frozen=True)
class DataFile:
    """A finished Parquet file of a table, with its entry for the Delta log."""

    name: str
    size: int
    num_rows: int
    stats: str
    # False if its rows only moved here from other files. Readers of the table's changes must not see them again.
    is_data_change: bool = True
    # The value for all its rows, in tables that are partitioned by it.
    is_provisional: bool | None = None


@dataclass(frozen=True)
class RemovedFile:
    name: str
    is_data_change: bool


@dataclass(frozen=True)
class Change:
    """What one run changes in one table."""

    added: tuple[DataFile, ...] = ()
    removed: tuple[RemovedFile, ...] = ()


def open_table(path: Place, version: int | None = None) -> DeltaTable | None:
    # To delta-rs an empty commit is one that changes nothing.
    path.restore()
    check_commits(path, version)
    try:
        return path.by_delta(lambda uri, options: DeltaTable(uri, version=version, storage_options=options))
    except TableNotFoundError:
        return None
    except DeltaError as error:
        raise damage_of_log(path, version, error) from error


def one_line(error: BaseException) -> str:
    """Of what is damaged: beside the place of the table, and how to make it anew."""
    text = error.what if isinstance(error, Damaged) else without_frames(str(error))
    return " ".join(text.split()) or type(error).__name__


def partitioning(table: Table) -> list[str]:
    """Rows that may still change are in separate files, so that a run can replace them. The column is also in the
    files, for readers that do not use the Delta log."""
    return [column.name for column in table.columns if column.name == IS_PROVISIONAL]


def is_provisional(table: Table, file: Mapping[str, Any]) -> bool | None:
    """Whether the file has the rows that may still change; None: the table has no such files."""
    return bool(file["partition"][IS_PROVISIONAL]) if partitioning(table) else None


def is_newest(path: Place, version: int) -> bool:
    """Whether the table is still at its newest version. It looks for one file and opens nothing."""
    return not version_file(path, version + 1).is_file()


def version_file(path: Place, version: int) -> Place:
    return path / "_delta_log" / f"{version:020}.json"


def sequence_of(path: Place, delta: DeltaTable) -> int:
    """The sequence number of the last run that changed the table; 0 if none has. delta-rs reads the log again for it,
    so the storage may refuse, or not answer."""
    return path.by_delta(lambda *_: delta.transaction_version(APPLICATION)) or 0


def is_done(path: Place, delta: DeltaTable, sequence: int) -> bool:
    return sequence_of(path, delta) >= sequence


def files_of(delta: DeltaTable) -> pa.Table:
    """One row per file: `path`, `size_bytes`, `num_records`, and `min`, `max`, `null_count` as structs."""
    return pa.table(delta.get_add_actions(flatten=False))


def rows_of(
    delta: DeltaTable,
    folder: Place,
    table: Table,
    columns: Sequence[str] | None = None,
    cluster: str | None = None,
    may_hold: Callable[[Mapping[str, Any]], bool] | None = None,
) -> pa.Table:
    """Reads rows file after file, on this thread; files of a storage together, on threads that have ended then.
    delta-rs reads with Arrow threads that call back into Python; if one still runs when the process ends, the process
    aborts (apache/arrow#34314). Files without rows of the cluster are not read: they may be damaged. `may_hold` decides
    by a file's entry in the Delta log whether to read it."""
    schema = table_schema(table)
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    places = [
        folder / file_path(row["path"])
        for row in files_of(delta).to_pylist()
        if (cluster is None or clusters_of(row, [cluster])) and (may_hold is None or may_hold(row))
    ]

    def read(place: Place) -> pa.Table:
        try:
            with pq.ParquetFile(place.parquet_source(), pre_buffer=False) as file:
                rows = file.read([*{*wanted.names, "cluster"}], use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise damage_of_file(folder, place, error) from error
        if cluster is not None:
            rows = rows.filter(pc.equal(rows.column("cluster"), cluster))
        return with_missing_columns(rows, wanted, place)

    return pa.concat_tables([wanted.empty_table(), *done_together(folder, read, places)])


def clusters_of(file: Mapping[str, Any], known: Iterable[str]) -> frozenset[str]:
    """Clusters whose rows the file may contain, by the Delta log."""
    least, most = ((file[side] or {}).get("cluster") for side in ("min", "max"))
    return frozenset(each for each in known if (least is None or least <= each) and (most is None or each <= most))


def file_path(uri: str) -> Path:
    """delta-rs escapes a space in a path, even in a path without a scheme."""
    return Path(unquote(urlparse(uri).path if uri.startswith("file:") else uri))
