"""Checks whether the versions that runs name can still be opened, and whether other readers read the newest ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime

import pyarrow.compute as pc

from jobs.checks.check import Check, CheckedWarehouse, Finding, Status
from jobs.output.failure import Failure
from jobs.output.progress import counting
from jobs.queries.results import QueryResult
from jobs.storage.places.together import done_together
from jobs.storage.refusals import Refused, raise_refusal
from jobs.warehouses.delta_tables import UNREADABLE, one_line
from jobs.warehouses.files.delta_log_files import COMMIT, LOG, LogFile, log_files
from jobs.warehouses.manifest import versions_of
from schemas.tables import TABLES, USER_TABLES
from udfs.sentences.counts import counted

HOUR_SECONDS = 3600
READER_ERRORS = (*UNREADABLE, Failure)
Answer = Callable[[str], QueryResult]
# Of a reader, with the tables that the statements name.
Scope = Callable[[CheckedWarehouse, Sequence[str]], AbstractContextManager[Answer]]


def check_named_versions(checked: CheckedWarehouse) -> Iterator[Finding]:
    """Of all runs: a version beyond the term of `maintain` is not named any more."""
    named: dict[str, dict[int, datetime]] = {}
    for run in checked.runs:
        for name, version in versions_of(run).items():
            newest = named.setdefault(name, {}).get(version, run["finished_time"])
            named[name][version] = max(newest, run["finished_time"])
    names = [name for name in named if name in TABLES and name in checked.tables]
    root, path = checked.warehouse.root, checked.warehouse.path
    logs = done_together(root, lambda name: log_files((path(name) / LOG).files_in()), names)
    for name, log in zip(names, logs, strict=True):
        versions = named[name]
        if lost := sorted(set(versions) - readable_versions(log)):
            line = f"{counted(len(lost), 'version')} that runs name cannot be opened, such as {lost[0]}"
            about = f"{line}: another program deleted files of its Delta log"
            yield Finding(Status.WARN, "run versions", name, about, forget(max(versions[each] for each in lost)))


def readable_versions(files: Sequence[LogFile]) -> set[int]:
    """Versions that follow a checkpoint, or the first version, without a gap."""
    commits = {file.version for file in files if file.kind == COMMIT}
    versions = {file.version for file in files if file.is_checkpoint}
    for version in sorted(commits):
        if version == 0 or version - 1 in versions:
            versions.add(version)
    return versions


def forget(finished: datetime) -> str:
    """`maintain` names no versions of runs before its term."""
    hours = int((datetime.now(UTC) - finished.astimezone(UTC)).total_seconds()) // HOUR_SECONDS
    command = f"groupscope maintain --keep {max(hours, 1)}h"
    when = "" if hours else "in an hour, "
    return f"{when}run `{command}`: it drops history before that and forgets the versions of these runs"


def check_reader(name: str, scope: Scope) -> Callable[[CheckedWarehouse], Iterator[Finding]]:
    """Whether the reader finds as many rows as the Delta log says. Damaged files are a finding of their own, which
    names the clusters that lose rows."""

    def check(checked: CheckedWarehouse) -> Iterator[Finding]:
        tables = [table for table in USER_TABLES if table in checked.tables]
        try:
            numbers = counts(checked, tables, scope)
        except Refused:
            raise
        except READER_ERRORS as error:
            raise_refusal(error, checked.warehouse.root)
            # Which table it is shows when each is read alone.
            numbers = [each for table in tables for each in count_alone(checked, table, scope)]
        for table, number in numbers:
            if (problem := difference(checked, table, number)) and not checked.has_damaged_files(table):
                yield Finding(Status.BROKEN, name, table, problem, checked.repair_table(table))

    return check


def counts(checked: CheckedWarehouse, tables: Sequence[str], scope: Scope) -> list[tuple[str, int | str]]:
    statements = {table: f"SELECT count(*) FROM {table}" for table in tables}
    with counting(len(tables), "tables") as activity, scope(checked, list(statements.values())) as answer:
        numbers: list[tuple[str, int | str]] = []
        for table, statement in statements.items():
            ((number,),) = answer(statement).rows
            numbers.append((table, int(str(number))))
            activity.done += 1
    return numbers


def count_alone(checked: CheckedWarehouse, table: str, scope: Scope) -> list[tuple[str, int | str]]:
    try:
        return counts(checked, [table], scope)
    except Refused:
        raise
    except READER_ERRORS as error:
        raise_refusal(error, checked.warehouse.root)
        return [(table, one_line(error))]


def difference(checked: CheckedWarehouse, table: str, answer: int | str) -> str | None:
    if isinstance(answer, str):
        return f"cannot be read: {answer}"
    numbers = checked.log(table).column("num_records")
    # Other writers may leave the numbers out.
    expected = None if numbers.null_count else pc.sum(numbers).as_py() or 0
    return None if expected in (None, answer) else f"has {counted(answer, 'row')}, {expected} were expected"


@contextmanager
def delta_rs(checked: CheckedWarehouse, _: Sequence[str]) -> Iterator[Answer]:
    def answer(statement: str) -> QueryResult:
        table = statement.rpartition(" ")[2]
        with checked.warehouse.path(table).known_refusals():
            return QueryResult(["count"], [[checked.tables[table].to_pyarrow_dataset().count_rows()]])

    yield answer


@contextmanager
def duckdb(checked: CheckedWarehouse, statements: Sequence[str]) -> Iterator[Answer]:
    from jobs.queries.engines.duckdb_engine import scope_of

    with scope_of(checked.warehouse, statements) as answer:
        yield answer


@contextmanager
def spark(checked: CheckedWarehouse, statements: Sequence[str]) -> Iterator[Answer]:
    from jobs.queries.engines.spark_engine import SparkEngine

    with SparkEngine(str(checked.warehouse.root), is_debug=False).scope(statements) as answer:
        yield answer


CHECKS = (
    Check("run versions", "every version that runs name can be opened", check_named_versions),
    Check("delta-rs", "delta-rs reads every table", check_reader("delta-rs", delta_rs)),
    Check("duckdb", "DuckDB reads every table", check_reader("duckdb", duckdb)),
)
SPARK = Check("spark", "Spark reads every table", check_reader("spark", spark))
