"""Tables of a warehouse that is not on local disks, as datasets that DuckDB reads.

DuckDB itself opens no file. It asks a dataset for the columns and rows of each scan, and takes row groups as it needs
them. If a statement ends early, or its conditions exclude files and row groups, the rest is not read.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.queries.files.table_files import partition_of, unread
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import IS_PROVISIONAL, UNREADABLE, file_path, files_of
from schemas.tables import Table
from udfs.arrays.arrow_schema import table_schema

# Texts of which a row group has few. As codes they are read in half the time.
REPEATED = frozenset({"cluster", "group_id", "topic", "topic_id", "run_id"})
PARQUET, CODED = ds.ParquetFileFormat(), ds.ParquetFileFormat(dictionary_columns=REPEATED)
# Row groups that are read while DuckDB works on the one before.
AHEAD = 2


class StoredTable(ds.FileSystemDataset):  # type: ignore[misc]
    """One version of a table. What could not be read is in `failures`, since DuckDB repeats errors in its own words."""

    def __init__(self, folder: Place, table: Table, delta: DeltaTable) -> None:
        # Other writers may have left NULL where none is allowed: `doctor` reports it, and the rows are still readable.
        schema = pa.schema([field.with_nullable(True) for field in table_schema(table)])
        actions = files_of(delta).to_pylist()
        places = [folder / file_path(action["path"]) for action in actions]
        self.places = {place.arrow_name: place for place in places}
        files = folder.arrow_files()
        fragments = [
            PARQUET.make_fragment(name, files, contents_of(action, schema))
            for name, action in zip(self.places, actions, strict=True)
        ]
        super().__init__(fragments, schema, PARQUET, files)
        self.version = delta.version()
        self.failures: list[Failure] = []

    def scanner(self, columns: Sequence[str] | None = None, filter: ds.Expression | None = None) -> "Scan":
        """What DuckDB calls for each scan."""
        return Scan(self, self.schema.names if columns is None else columns, filter)


@dataclass(frozen=True)
class Scan:
    table: StoredTable
    columns: Sequence[str]
    filter: ds.Expression | None

    @cached_property
    def needed(self) -> frozenset[str]:
        """Columns of the result and of the condition, which names them somewhere in its text."""
        conditions = str(self.filter)
        return frozenset({*self.columns, *(name for name in self.table.schema.names if name in conditions)})

    def to_reader(self) -> pa.RecordBatchReader:
        schema = with_codes(pa.schema([self.table.schema.field(name) for name in self.columns]))
        return pa.RecordBatchReader.from_batches(schema, self.batches(schema))

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for rows in read_ahead(self.reads()):
            yield from rows.cast(schema).to_batches()

    def reads(self) -> Iterator[Callable[[], pa.Table]]:
        """One for each row group that may have rows."""
        for fragment in self.table.get_fragments(self.filter):
            place, contents = self.table.places[fragment.path], fragment.partition_expression
            with self.noting_failures(place):
                # Of texts as such: from bounds of codes Arrow draws no conclusion.
                with place.parquet_source() as source:
                    whole = PARQUET.make_fragment(source, partition_expression=contents)
                    parts = whole.split_by_row_group(self.filter, self.table.schema)
                for part in parts:
                    yield partial(self.row_group, place, contents, whole.metadata, part.row_groups[0].id)

    def row_group(self, place: Place, contents: ds.Expression, footer: pq.FileMetaData, number: int) -> pa.Table:
        """As a whole, on this thread: no thread of Arrow is reading, and calling back into Python, when the process
        ends (apache/arrow#34314). Each has a reader of its own, which has a position."""
        with self.noting_failures(place), place.row_group_source(footer, number, self.needed) as source:
            fragment = CODED.make_fragment(source, partition_expression=contents, row_groups=[number])
            schema = with_codes(self.table.schema)
            rows = fragment.to_table(schema, list(self.columns), filter=self.filter, use_threads=False)
            return rows.unify_dictionaries()

    @contextmanager
    def noting_failures(self, place: Place) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            self.table.failures.append(unread(str(place), self.table.version, error))
            raise


def with_codes(schema: pa.Schema) -> pa.Schema:
    codes = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([field.with_type(codes) if field.name in REPEATED else field for field in schema])


def read_ahead(reads: Iterator[Callable[[], pa.Table]]) -> Iterator[pa.Table]:
    """In order, and ahead as soon as the first was not enough. Whoever stops early waits for those that have begun; so
    does a process that ends."""
    for read in reads:
        yield read()
        break
    readers = ThreadPoolExecutor(AHEAD, "groupscope-scan")
    begun: deque[Future[pa.Table]] = deque()
    try:
        for read in reads:
            begun.append(readers.submit(read))
            if len(begun) > AHEAD:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        readers.shutdown(cancel_futures=True)


def contents_of(action: Mapping[str, Any], schema: pa.Schema) -> ds.Expression:
    """What Delta's log says of all rows of a file, which is not opened for conditions that contradict it."""
    known = list(bounds_of(action, schema))
    is_provisional = partition_of(action)
    if is_provisional is not None:
        known.append(ds.field(IS_PROVISIONAL) == is_provisional)
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
