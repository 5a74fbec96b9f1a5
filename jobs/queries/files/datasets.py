"""Tables of a warehouse that is not on local disks, as datasets that DuckDB reads.

DuckDB itself opens no file. It asks a dataset for the columns and rows of each scan, and takes row groups as it needs
them. If a statement ends early, or its conditions exclude files and row groups, the rest is not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.queries.files.table_files import partition_of, unread
from jobs.storage.arrow_files import arrow_files
from jobs.storage.stored_path import StoredPath, parquet_source
from jobs.warehouses.delta_tables import IS_OPEN, UNREADABLE, files_of
from schemas.declarations.columns import Table
from udfs.arrays.arrow_schema import table_schema

PARQUET = ds.ParquetFileFormat()


class StoredTable(ds.FileSystemDataset):  # type: ignore[misc]
    """One version of a table. What could not be read is in `failures`, since DuckDB repeats errors in its own words."""

    def __init__(self, folder: StoredPath, table: Table, delta: DeltaTable) -> None:
        # Other writers may have left NULL where none is allowed: `doctor` reports it, and the rows are still readable.
        schema = pa.schema([field.with_nullable(True) for field in table_schema(table)])
        actions = files_of(delta).to_pylist()
        files = arrow_files(folder.storage)
        fragments = [
            PARQUET.make_fragment((folder / unquote(action["path"])).file, files, contents_of(action, schema))
            for action in actions
        ]
        super().__init__(fragments, schema, PARQUET, files)
        self.folder, self.version = folder, delta.version()
        self.failures: list[Failure] = []

    def scanner(self, columns: Sequence[str] | None = None, filter: ds.Expression | None = None) -> "Scan":
        """What DuckDB calls for each scan."""
        return Scan(self, self.schema.names if columns is None else columns, filter)


@dataclass(frozen=True)
class Scan:
    table: StoredTable
    columns: Sequence[str]
    filter: ds.Expression | None

    def to_reader(self) -> pa.RecordBatchReader:
        schema = pa.schema([self.table.schema.field(name) for name in self.columns])
        return pa.RecordBatchReader.from_batches(schema, self.batches(schema))

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for fragment in self.table.get_fragments(self.filter):
            place = StoredPath(self.table.folder.storage, fragment.path)
            try:
                for rows in self.row_groups(place, fragment.partition_expression):
                    yield from rows.cast(schema).to_batches()
            except UNREADABLE as error:
                self.table.failures.append(unread(str(place), self.table.version, error))
                raise

    def row_groups(self, place: StoredPath, contents: ds.Expression) -> Iterator[pa.Table]:
        """Each is read as a whole before it is passed on. So no thread of Arrow is reading, and calling back into
        Python, when the process ends (apache/arrow#34314)."""
        with parquet_source(place) as source:
            fragment = PARQUET.make_fragment(source, partition_expression=contents)
            for group in fragment.split_by_row_group(self.filter, self.table.schema):
                yield group.to_table(self.table.schema, list(self.columns), filter=self.filter, use_threads=False)


def contents_of(action: Mapping[str, Any], schema: pa.Schema) -> ds.Expression:
    """What Delta's log says of all rows of a file, which is not opened for conditions that contradict it."""
    known = list(bounds_of(action, schema))
    is_open = partition_of(action)
    if is_open is not None:
        known.append(ds.field(IS_OPEN) == is_open)
    return reduce(lambda left, right: left & right, known, ds.scalar(True))


def bounds_of(action: Mapping[str, Any], schema: pa.Schema) -> Iterator[ds.Expression]:
    """Of integers and texts only: the log cuts times to milliseconds, so they exclude nothing for certain. And only
    where no NULL is: Arrow draws no conclusion from bounds that leave NULL open."""
    least, greatest, nulls = (action.get(kind) or {} for kind in ("min", "max", "null_count"))
    for name in least.keys() & greatest.keys() & {*schema.names}:
        kinds = {type(least[name]), type(greatest[name])}
        if nulls.get(name) == 0 and kinds in ({int}, {str}):
            # Of the column's own type: Arrow draws none from others either.
            low, high = (pa.scalar(bound, schema.field(name).type) for bound in (least[name], greatest[name]))
            yield (ds.field(name) >= low) & (ds.field(name) <= high)
