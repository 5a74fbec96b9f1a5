"""Runs SQL with DuckDB in this process, over the table files at the versions of the newest run.

A statement can read these files and nothing else: DuckDB opens no other file, loads no extension, and allows no change
of its settings. If the files are not on local disks, DuckDB opens none at all: it reads datasets (files/datasets.py).
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection

from jobs.output.failure import Failure
from jobs.output.progress import Activity, measure
from jobs.output.rows import Row
from jobs.queries.definitions.dialects import text_literal
from jobs.queries.definitions.functions import duckdb_macro
from jobs.queries.definitions.tables import duckdb_view_of
from jobs.queries.definitions.views import NamesUsed, named_in
from jobs.queries.engines.absent_tables import say_absent
from jobs.queries.files.table_files import Files, damaged_file, files_at, opened_at, unreadable
from jobs.queries.results import QueryResult
from jobs.queries.statements import only_reads
from jobs.storage.places.together import done_together
from jobs.warehouses.any_warehouse import reading
from jobs.warehouses.warehouse import Warehouse
from schemas.renames import renamed
from schemas.tables import FUNCTIONS, SCALAR_FUNCTIONS, USER_TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from udfs.sentences.suggestions import did_you_mean

if TYPE_CHECKING:
    from jobs.queries.files.datasets import StoredTable

# The rest is for what Python, and other programs, hold.
MOST_MEMORY = "50%"
ROWS_AT_ONCE = 2_000
# Spark's word for what opens a list, so that statements which open one run in both engines.
EXPLODE = "CREATE MACRO explode(list) AS unnest(list)"
ABSENT = re.compile(r"(?P<kind>Table|Function) with name (?P<name>\S+) does not exist")
NOT_FOUND = re.compile("does not exist|not found in FROM|does not have a column")
NAMED = re.compile('(?:[Cc]olumn(?: named)?|with name) ("[^"]+"|[^" ]+)')
QUOTED = re.compile('"([^"]+)"')
# Its own tables, which nobody means here.
OF_DUCKDB = re.compile(r'"(pg_|duckdb_|sqlite_|information_schema|read_|parquet_)')
# A clause of WITH, and what EXPLAIN ANALYZE runs, may be these too.
WRITING = frozenset({"COPY", "EXPORT", "INSERT"})
# Runs a statement that it is given as a text.
HIDING = "JSON_EXECUTE_SERIALIZED_SQL"
LOCKS = (
    "SET TimeZone = 'UTC'",
    # Its progress is asked for, and nothing printed by it.
    "SET enable_progress_bar = true",
    "SET enable_progress_bar_print = false",
    "SET python_enable_replacements = false",
    # The gate and the report ask dozens of questions of the same files.
    "SET parquet_metadata_cache = true",
    # DuckDB guesses how many rows a side of an ASOF join has, and compares each with each where it guesses few.
    "SET asof_loop_join_threshold = 0",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
NOTHING: Mapping[str, pa.Table] = {}
NO_TEXTS: Mapping[str, str] = {}
READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
Result = TypeVar("Result")


@dataclass(frozen=True)
class DuckDBEngine:
    place: str

    def statements(self, text: str) -> list[str]:
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as error:
            raise Failure(ExitCode.USAGE, error_text(error)) from None
        for statement in statements:
            check_reading(statement)
        return [statement.query.strip() for statement in statements]

    def is_whole(self, text: str) -> bool:
        words = [word for kind, word in tokens_of(text) if kind != duckdb.token_type.comment]
        return words[-1:] == [";"]

    @contextmanager
    def scope(self, statements: Sequence[str]) -> Iterator[Callable[[str], QueryResult]]:
        warehouse = reading(self.place)
        say_absent(statements, warehouse.readable_versions())
        with session_of(warehouse, statements) as session:

            def answer(statement: str) -> QueryResult:
                measure(session.count)
                return session.answer(statement)

            yield answer


@contextmanager
def scope_of(
    warehouse: Warehouse,
    statements: Sequence[str],
    given: Mapping[str, pa.Table] = NOTHING,
    shared: Mapping[str, str] = NO_TEXTS,
) -> Iterator[Callable[[str], QueryResult]]:
    """Answers to these statements, over the warehouse as its newest run left it. `given`: tables as they will be after
    this run. `shared`: by name, common table expressions up to the one of that name, whose text several statements
    have; its rows are made once, for those statements to read."""
    with session_of(warehouse, statements, given) as session:
        for name, text in shared.items():
            if any(text in statement for statement in statements):
                session.answer(f"CREATE TEMP TABLE made_{name} AS\nWITH {text}\nSELECT * FROM {name}")

        def answer(statement: str) -> QueryResult:
            for name, text in shared.items():
                statement = statement.replace(text, f"{name} AS (SELECT * FROM made_{name})")
            return session.answer(statement)

        yield answer


@contextmanager
def session_of(
    warehouse: Warehouse, statements: Sequence[str], given: Mapping[str, pa.Table] = NOTHING
) -> "Iterator[Session]":
    named = named_in(statements)
    versions = warehouse.readable_versions([name for name in named.tables if name not in given])
    is_stored = warehouse.root.is_remote
    stored = stored_tables(warehouse, versions) if is_stored else {}
    files = {} if is_stored else {name: files_at(warehouse, name, version) for name, version in versions.items()}
    with (
        tempfile.TemporaryDirectory(prefix="groupscope-sql-") as folder,
        connect(folder) as connection,
        ThreadPoolExecutor(1) as worker,
    ):
        connection.execute(f"SET allowed_paths = [{', '.join(map(text_literal, uris_of(files)))}]")
        for lock in LOCKS:
            connection.execute(lock)
        bring_into_scope(connection, warehouse, versions, files, {**stored, **given}, named)
        yield Session(connection, worker, frozenset(uris_of(files)), tuple(stored.values()))


def tokens_of(text: str) -> list[tuple[duckdb.token_type, str]]:
    """As DuckDB cuts the text, which it counts in bytes."""
    raw = text.encode()
    tokens = duckdb.tokenize(text)
    ends = [*(start for start, _ in tokens[1:]), len(raw)]
    return [(kind, raw[start:end].decode().strip()) for (start, kind), end in zip(tokens, ends, strict=True)]


def check_reading(statement: duckdb.Statement) -> None:
    quoted = (duckdb.token_type.string_const, duckdb.token_type.comment)
    words = [word.upper() for kind, word in tokens_of(statement.query) if kind not in quoted]
    if writing := next((word for word in words if word in WRITING or word.strip('"') == HIDING), None):
        raise only_reads(writing)
    # What pivots by values that are not written out is several statements to DuckDB: it makes a type of them.
    is_pivot = statement.type == duckdb.StatementType.MULTI and "PIVOT" in words
    if statement.type not in READING and not is_pivot:
        raise only_reads(words[0])


@contextmanager
def connect(folder: str) -> Iterator[DuckDBPyConnection]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MOST_MEMORY,
        "temp_directory": folder,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(config=settings) as connection:
        yield connection


def bring_into_scope(
    connection: DuckDBPyConnection,
    warehouse: Warehouse,
    versions: dict[str, int],
    files: dict[str, list[Files]],
    stored: "Mapping[str, StoredTable | pa.Table]",
    named: NamesUsed,
) -> None:
    connection.execute(EXPLODE)
    for name, table in stored.items():
        connection.register(name, table)
    for name in (name for name in named.tables if name not in stored):
        try:
            connection.execute(duckdb_view_of(USER_TABLES[name], files.get(name, [])))
        except duckdb.Error as error:
            found = damaged_file(uri for group in files.get(name, ()) for uri in group.uris)
            raise (found or unreadable(warehouse.path(name).address, versions[name], error_text(error))) from error
    for name in named.views:
        connection.execute(f"CREATE VIEW {name} AS\n{VIEWS[name].sql}")
    for name in named.functions:
        connection.execute(duckdb_macro(FUNCTIONS[name]))
    if named.scalar_functions:
        # Here, since they load all assignors.
        from jobs.queries.engines.duckdb_functions import register_duckdb

        register_duckdb(connection)


def stored_tables(warehouse: Warehouse, versions: dict[str, int]) -> "dict[str, StoredTable]":
    # Here, since warehouses on local disks do without datasets, which take a while to load.
    from jobs.queries.files.datasets import StoredTable

    opened = done_together(warehouse.root, lambda name: opened_at(warehouse, name, versions[name]), versions)
    folders = {name: warehouse.path(name) for name in versions}
    return {
        name: StoredTable(folder, USER_TABLES[name], delta)
        for (name, folder), delta in zip(folders.items(), opened, strict=True)
    }


def uris_of(files: dict[str, list[Files]]) -> list[str]:
    return [uri for groups in files.values() for group in groups for uri in group.uris]


@dataclass(frozen=True)
class Session:
    """DuckDB sees no interrupt while it works: it works in a thread, and this one waits for either."""

    connection: DuckDBPyConnection
    worker: ThreadPoolExecutor
    uris: frozenset[str]
    stored: "tuple[StoredTable, ...]" = ()

    def answer(self, statement: str) -> QueryResult:
        self.run(lambda: self.connection.execute(statement))
        return QueryResult([name for name, *_ in self.connection.description or ()], self.rows())

    def table(self, statement: str) -> pa.Table:
        """Whole, by columns."""
        return self.run(lambda: self.connection.sql(statement).to_arrow_table())

    def rows(self) -> Iterator[Row]:
        """As they come, so that a result may be larger than memory."""
        while rows := self.run(lambda: self.connection.fetchmany(ROWS_AT_ONCE)):
            yield from rows

    def run(self, call: Callable[[], Result]) -> Result:
        future = self.worker.submit(call)
        try:
            return future.result()
        except KeyboardInterrupt:
            self.connection.interrupt()
            wait([future])
            raise
        except duckdb.Error as error:
            raise self.failure(error) from error

    def count(self, activity: Activity) -> None:
        """Where DuckDB does not know how much there is to do, it says -1."""
        percent = self.connection.query_progress()
        activity.total, activity.done = (100, percent) if percent > 0 else (0, 0)

    def failure(self, error: duckdb.Error) -> Failure:
        unread = [failure for table in self.stored for failure in table.failures]
        if unread:
            return unread[0]
        code, text = self.code_of(error), error_text(error)
        # Its own files may not have had room.
        if code != ExitCode.UNUSABLE_WAREHOUSE or "No space left" in text:
            return Failure(code, text)
        found = damaged_file(sorted(self.uris))
        return found or Failure(code, f"{text}; run `groupscope doctor`, which says which table is damaged")

    def code_of(self, error: duckdb.Error) -> ExitCode:
        # What a damaged file makes of its own head or pages has no kind.
        if isinstance(error, duckdb.IOException) or type(error) is duckdb.Error:
            return ExitCode.UNUSABLE_WAREHOUSE
        if isinstance(error, duckdb.OutOfMemoryException):
            return ExitCode.FAILED
        is_ours = isinstance(error, duckdb.InvalidInputException) and any(uri in str(error) for uri in self.uris)
        return ExitCode.UNUSABLE_WAREHOUSE if is_ours else ExitCode.USAGE


def error_text(error: duckdb.Error) -> str:
    """Without the place in the text, which DuckDB adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join([*lines[:1], *hints(lines)][:2]).strip() or type(error).__name__


def hints(lines: Sequence[str]) -> Iterator[str]:
    """What was meant: what an old name is called since, else a name of ours rather than one of DuckDB's."""
    if lines and NOT_FOUND.search(lines[0]) and (since := renamed(" ".join(NAMED.findall(lines[0])))):
        yield f"({since})"
        return
    absent = ABSENT.search(lines[0]) if lines else None
    if absent is not None:
        ours = [*USER_TABLES, *VIEWS] if absent["kind"] == "Table" else [*FUNCTIONS, *SCALAR_FUNCTIONS]
        yield from filter(None, [did_you_mean(absent["name"], ours).strip()])
    for line in lines[1:]:
        if line.startswith("Did you mean") and not OF_DUCKDB.search(line):
            yield line
        if line.startswith("Candidate bindings"):
            column = QUOTED.findall(lines[0])[-1:]
            yield from filter(None, [did_you_mean(each, QUOTED.findall(line)).strip() for each in column])
