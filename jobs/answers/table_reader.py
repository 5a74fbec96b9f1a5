"""Reads a few rows of large tables: skips files and row groups that cannot contain them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from jobs.output.failure import Failure
from jobs.output.zones import moved
from jobs.storage.places.place import Place
from jobs.storage.refusals import refusal_of_warehouse
from jobs.warehouses.delta_tables import file_path, files_of, open_table
from jobs.warehouses.files.damaged_tables import first_damaged
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema

Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    column: str
    operator: str
    value: Any
    or_null: bool = False


def equal(column: str, value: Any) -> Condition:
    return Condition(column, "=", value)


def one_of(column: str, values: Collection[str]) -> Condition:
    return Condition(column, "in", sorted(values))


EXPRESSIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": lambda left, right: left == right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    "in": lambda left, right: left.isin(right),
}
# Bounds of times in the Delta log are cut to milliseconds.
CUT_OFF = timedelta(milliseconds=1)
# Of a file without bounds.
LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class TableReader:
    """Reads each table at the version that belongs to the versions of the others."""

    warehouse: Warehouse
    versions: Mapping[str, int]

    def rows(self, table: str, columns: Sequence[str], *conditions: Condition) -> list[Row]:
        """In any order; no rows if the table does not exist yet."""
        return list(self.arrow(table, columns, *conditions).to_pylist())

    def arrow(self, table: str, columns: Sequence[str], *conditions: Condition) -> pa.Table:
        schema = table_schema(TABLES[table])
        wanted = pa.schema([schema.field(name) for name in columns])
        if table not in self.versions or any(map(is_of_no_value, conditions)):
            return wanted.empty_table()
        rows = self.read_files(table, wanted.names, conditions)
        if required := [name for name in wanted.names if not wanted.field(name).nullable and rows[name].null_count]:
            raise unusable(self.warehouse.path(table), f"has NULL in {required[0]}, which allows none")
        return rows.cast(wanted)

    def newest(self, table: str, column: str, *conditions: Condition) -> datetime | None:
        """The newest time in a column. Of a table of many runs, a few files have it."""
        if table not in self.versions:
            return None
        found: datetime | None = None
        files = [(path, (file.get("max") or {}).get(column)) for path, file in self.held_files(table, conditions)]
        for path, bound in sorted(files, key=lambda file: file[1] or LAST, reverse=True):
            if found is not None and bound is not None and bound <= moved(found, -CUT_OFF):
                break
            known = pc.max(self.read_paths([path], table, [column], conditions).column(0)).as_py()
            found = max((time for time in (found, known) if time is not None), default=None)
        return found

    def read_files(self, table: str, columns: list[str], conditions: Sequence[Condition]) -> pa.Table:
        return self.read_paths(list(self.files(table, conditions)), table, columns, conditions)

    def read_paths(
        self, paths: list[Place], table: str, columns: list[str], conditions: Sequence[Condition]
    ) -> pa.Table:
        if not paths:
            schema = table_schema(TABLES[table])
            return pa.schema([schema.field(name) for name in columns]).empty_table()
        terms = [expression(each) for each in conditions]
        whole = reduce(lambda left, right: left & right, terms) if terms else None
        try:
            return rows_of(paths, columns, whole, table_schema(TABLES[table]))
        except (OSError, pa.ArrowInvalid) as error:
            if (refusal := refusal_of_warehouse(error, paths[0])) is not None:
                raise refusal from error
            if not paths[0].is_remote and (found := first_damaged(paths)) is not None:
                raise found from error
            lost = next((path for path in paths if not path.is_file()), None)
            raise unusable(lost or paths[0], "is not there" if lost else "cannot be read") from error

    def files(self, table: str, conditions: Sequence[Condition]) -> Iterator[Place]:
        return (path for path, _ in self.held_files(table, conditions))

    def held_files(self, table: str, conditions: Sequence[Condition]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        """Files that may have such rows, each with what the Delta log says of it."""
        folder = self.warehouse.path(table)
        delta = open_table(folder, self.versions[table])
        if delta is None:
            raise unusable(folder, "is not there")
        for file in files_of(delta).to_pylist():
            if all(may_hold(file, condition) for condition in conditions):
                yield folder / file_path(file["path"]), file


def rows_of(paths: list[Place], columns: list[str], whole: ds.Expression | None, schema: pa.Schema) -> pa.Table:
    # Files of an older release lack columns, which are NULL then.
    schema = pa.schema([field.with_nullable(True) for field in schema])
    names = [path.arrow_name for path in paths]
    dataset = ds.dataset(names, schema, format="parquet", filesystem=paths[0].arrow_files())
    # Elsewhere Arrow's threads call back into Python: see delta_tables.rows_of.
    return dataset.to_table(columns=columns, filter=whole, use_threads=not paths[0].is_remote)


def unusable(path: object, what: str) -> Failure:
    return Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{path}: {what}; run `groupscope doctor`, which says how to repair it")


def is_of_no_value(condition: Condition) -> bool:
    """Command-line bytes that are not UTF-8 cannot be text in a table, and Arrow rejects them."""
    try:
        str(condition.value).encode()
    except UnicodeEncodeError:
        return True
    return False


def expression(condition: Condition) -> ds.Expression:
    field = ds.field(condition.column)
    compared = EXPRESSIONS[condition.operator](field, condition.value)
    return compared | field.is_null() if condition.or_null else compared


def may_hold(file: Mapping[str, Any], condition: Condition) -> bool:
    """By the minimum and maximum of the column in the Delta log, if it has any."""
    least = (file.get("min") or {}).get(condition.column)
    greatest = (file.get("max") or {}).get(condition.column)
    value = condition.value
    # They say nothing about NULL.
    if condition.or_null or least is None or greatest is None:
        return True
    if isinstance(value, datetime):
        above = moved(value, -CUT_OFF) < greatest
        return bool({"=": least <= value and above, "<=": least <= value, ">": above}[condition.operator])
    if condition.operator == "=" and isinstance(value, int | str):
        return bool(least <= value <= greatest)
    return True
