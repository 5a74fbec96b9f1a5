"""What a statement cannot do in DuckDB, however it is put: write, read other files, change settings; and how damaged
files are distinguished from wrong statements."""

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable

from jobs.output.failure import Failure, go_on
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from schemas.words.exit_codes import ExitCode
from tests.make.tables import make

ROWS = [{"group_id": f"group-{number}", "metadata": f"{number * 7919:x}" * 40} for number in range(2_000)]


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """The one file of offset_commits."""
    warehouse = make(tmp_path_factory.mktemp("locks") / "warehouse", {"offset_commits": ROWS})
    (uri,) = DeltaTable(warehouse.path("offset_commits").path).file_uris()
    return Path(uri)


def answer(root, text):
    """The table is in scope, and so its file may be read, whatever the statement."""
    engine = DuckDBEngine(str(root))
    statements = engine.statements(text)
    with engine.scope([*statements, "SELECT 1 FROM offset_commits"]) as answer:
        return [list(answer(statement).rows) for statement in statements]


WRITING = """
COPY (SELECT 1) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)
WITH a AS (COPY (SELECT 1) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)) SELECT 1
EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)
EXPLAIN (ANALYZE) /* SELECT */ COPY (SELECT 1) TO '{file}'
WITH a AS (INSERT INTO offset_commits SELECT * FROM offset_commits RETURNING 1) SELECT * FROM a
SELECT * FROM json_execute_serialized_sql('{{}}')
SELECT * FROM "json_execute_serialized_sql"('{{}}')
EXPORT DATABASE '{new}'
ATTACH '{new}' AS other
INSTALL httpfs
LOAD httpfs
SET enable_external_access = true
RESET lock_configuration
PRAGMA enable_profiling = 'json'
CALL enable_logging()
CREATE TABLE other AS SELECT 1
DROP VIEW offset_commits
USE other
BEGIN
PREPARE a AS SELECT 1
"""


@pytest.mark.parametrize("statement", WRITING.strip().splitlines())
def test_what_may_write_is_refused_before_it_runs(held, statement):
    before = held.read_bytes()
    new = held.with_name("new")
    with pytest.raises(Failure, match="only reads") as failure:
        DuckDBEngine("").statements(statement.format(file=held, new=new))
    assert failure.value.code == ExitCode.USAGE
    assert held.read_bytes() == before


READING = """
FROM read_csv('/etc/passwd')
FROM '/etc/passwd.csv'
FROM read_text('/etc/passwd')
FROM read_blob('{other}')
FROM read_parquet('{other}')
FROM parquet_metadata('{other}')
FROM glob('/etc/*')
FROM sniff_csv('/etc/passwd')
FROM 'https://127.0.0.1/a.parquet'
FROM query('FROM read_text(''/etc/passwd'')')
FROM enable_logging(storage = 'file', storage_path = '{other}')
FROM duckdb_secrets()
FROM held
"""


@pytest.mark.parametrize("statement", READING.strip().splitlines())
def test_other_files_cannot_be_read(held, statement):
    other = held.with_name("beside.parquet")
    shutil.copy(held, other)
    with pytest.raises(Failure) as failure:
        answer(held.parents[1], statement.format(other=other))
    assert failure.value.code == ExitCode.USAGE
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    "statement",
    [
        'SELECT \'COPY\', "topic" AS "copy" FROM offset_commits /* COPY */ LIMIT 1 -- INSERT',
        "FROM offset_commits SELECT count(*)",
        "EXPLAIN ANALYZE SELECT count(*) FROM offset_commits",
        "DESCRIBE offset_commits",
        "SUMMARIZE SELECT group_id FROM offset_commits",
        "PIVOT (SELECT topic, partition FROM offset_commits) ON partition USING count(*)",
        "FROM query_table('offset_commits') LIMIT 1",
        "SELECT 'größe; 😀' AS \"ö\"",
    ],
)
def test_what_reads_is_answered(held, statement):
    assert all(answer(held.parents[1], statement))


def flipped(file):
    """From the pages on, which stand before the last kilobytes."""
    return file[:200] + bytes(each ^ 0x5A for each in file[200:-6000]) + file[-6000:]


@pytest.mark.parametrize(
    "damage",
    [lambda file: b"", lambda file: file[: len(file) // 2], lambda file: b"PAR1 no more", flipped, None],
    ids=["empty", "cut", "other", "flipped", "gone"],
)
def test_a_file_that_cannot_be_read_is_a_matter_of_the_warehouse(tmp_path, damage):
    warehouse = make(tmp_path / "warehouse", {"offset_commits": ROWS})
    (uri,) = DeltaTable(warehouse.path("offset_commits").path).file_uris()
    if damage is None:
        Path(uri).unlink()
    else:
        Path(uri).write_bytes(damage(Path(uri).read_bytes()))
    with pytest.raises(Failure) as failure:
        answer(warehouse.root.path, "SELECT max(metadata), max(group_id) FROM offset_commits")
    assert failure.value.code == ExitCode.UNUSABLE_WAREHOUSE
    assert "\n" not in str(failure.value)


def interrupt_once_it_computes():
    """After more work than it takes to open a warehouse."""
    begun = time.process_time()
    while time.process_time() < begun + 1:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_what_runs_and_leaves_nothing(held, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    interrupting = threading.Thread(target=interrupt_once_it_computes)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            answer(
                held.parents[1], "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE hash(a, b) = 7"
            )
    finally:
        # A Spark of an earlier test has its own way with interrupts.
        go_on()
    interrupting.join()
    assert list(tmp_path.iterdir()) == []


def test_a_join_by_the_nearest_time_never_compares_each_row_with_each(held):
    """DuckDB does so where it guesses that there are few, and behind a filter it guesses wrong."""
    text = "EXPLAIN SELECT * FROM (VALUES (1)) AS a(n) ASOF JOIN (VALUES (0), (1)) AS b(n) ON a.n >= b.n"
    plan = str(answer(held.parents[1], text))
    assert "ASOF" in plan.upper().replace("_", "") and "NESTED" not in plan.upper()
