"""`groupscope sql` gives the same answers wherever the warehouse is, and reads of a storage only what they need."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from deltalake import WriterProperties, write_deltalake

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.output.failure import Failure
from jobs.output.rows import Format, row_lines
from jobs.queries.definitions.tables import in_duckdb
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.results import QueryResult
from jobs.storage.kept_files import LAST_BYTES, SMALL_BYTES
from jobs.storage.places.addresses import storage_at
from schemas.tables import FUNCTIONS, TABLES, USER_TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied_to, elsewhere
from tests.builders.storages.s3_server import free_port, proxy
from tests.builders.warehouses.odd_values import ABSENT, EMPTY, odd_warehouse
from tests.make.tables import filled, make, write_run

__all__ = ["elsewhere"]

ROOT = Path(__file__).parents[3]
Answers = Callable[[str], QueryResult]
# Conditions that DuckDB leaves to the dataset, and others that it keeps: of each type, NULL, nested fields, lists.
CONDITIONS = """
SELECT * FROM ownership_intervals WHERE is_provisional
SELECT * FROM ownership_intervals WHERE NOT is_provisional AND from_time IS NOT NULL
SELECT is_provisional, count(*) FROM ownership_intervals GROUP BY ALL
SELECT count(*) FROM ownership_intervals
SELECT topic, from_time FROM ownership_intervals WHERE from_time >= timestamptz '2026-11-21T03:00:00Z'
SELECT topic FROM ownership_intervals WHERE topic > 'größe' OR topic IS NULL
SELECT group_id FROM offset_commits WHERE group_id IN ('it''s', '😀', 'none', chr(97) || chr(0) || 'b')
SELECT committed_offset FROM offset_commits WHERE committed_offset <> 0 AND committed_offset < 9223372036854775807
SELECT partition FROM offset_commits WHERE partition BETWEEN -2147483648 AND -1
SELECT record_time FROM offset_commits WHERE record_time > '9999-12-31 23:59Z' OR record_time < '1970-01-01 00:00Z'
SELECT record_offset, key_bytes FROM rejected_records WHERE key_bytes = '\\x00\\xff'::BLOB
SELECT group_id, len(members) FROM classic_group_metadata WHERE members[1].client_id = 'x"y'
SELECT a.topic FROM ownership_intervals a SEMI JOIN offset_commits b ON a.topic = b.topic AND b.partition > 0
SELECT topic FROM ownership_intervals ORDER BY topic LIMIT 3
SELECT cluster, run_id, table_versions['offset_commits'] FROM runs WHERE cluster = 'a' AND run_id LIKE '%2'
FROM owner_at('orders', 3, '2026-11-21T03:00:00Z')
SELECT * FROM (SUMMARIZE SELECT group_id, partition, committed_offset FROM offset_commits)
"""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return odd_warehouse(tmp_path_factory.mktemp("odd") / "w", np.random.default_rng(7))


@pytest.fixture(scope="module")
def place(local, elsewhere):
    return copied_to(Path(local.address), f"{elsewhere}/odd")


@pytest.fixture(scope="module")
def both(local, place):
    """With everything in scope at once."""
    with (
        DuckDBEngine(local.address).scope(["SHOW TABLES"]) as here,
        DuckDBEngine(place).scope(["SHOW TABLES"]) as there,
    ):
        yield here, there


def lines(answer):
    return sorted(row_lines(answer.names, answer.rows, Format.JSON))


@pytest.mark.drawn(15)
@pytest.mark.parametrize("table", USER_TABLES)
def test_every_table_has_the_rows_and_types_of_the_local_one(both, table):
    here, there = (lines(answer(f"SELECT * FROM {table}")) for answer in both)
    assert here == there
    assert (not there) == (table in ABSENT | EMPTY)
    types = [[row[:2] for row in answer(f"DESCRIBE {table}").rows] for answer in both]
    assert types[0] == types[1]


@pytest.mark.drawn(15)
@pytest.mark.parametrize("statement", [f"SELECT * FROM {view}" for view in VIEWS] + CONDITIONS.strip().splitlines())
def test_views_and_conditions_give_the_rows_of_the_local_one(both, statement):
    here, there = (lines(answer(statement)) for answer in both)
    assert here == there


def test_the_same_names_are_in_scope(both):
    here, there = (lines(answer("SHOW TABLES")) for answer in both)
    assert here == there
    assert len(there) == len(USER_TABLES) + len(VIEWS)
    functions = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal"
    assert {row[0] for row in both[1](functions).rows} >= {*FUNCTIONS}


@pytest.mark.parametrize(
    "statement", ["FROM read_parquet('s3://bucket/a')", "FROM '/etc/passwd.csv'", "FROM glob('*')"]
)
def test_duckdb_itself_opens_nothing(both, statement):
    with pytest.raises(Failure) as failure:
        both[1](statement)
    assert failure.value.code == ExitCode.USAGE


def sql(*arguments, timeout=100):
    command = [sys.executable, "-m", "jobs.cli", "sql", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=timeout, check=False)


def test_a_process_that_leaves_rows_unread_ends_as_it_should(tmp_path, elsewhere, rng):
    """Threads that read ahead would still be at it: there are many files, each of many row groups."""
    warehouse, table = make(tmp_path / "w", {}), TABLES["offset_commits"]
    rows = filled(table, [{"record_offset": int(offset)} for offset in rng.integers(2**62, size=20_000)])
    for _ in range(12):
        properties = WriterProperties(max_row_group_size=1_000)
        folder = str(warehouse.path(table.name))
        write_deltalake(folder, rows, mode="append", writer_properties=properties)
    write_run(warehouse, "run-0002", {})
    place = copied_to(tmp_path / "w", f"{elsewhere}/many")
    for _ in range(3):
        done = sql("SELECT 1 AS one FROM offset_commits WHERE record_offset > 7 LIMIT 1", "--warehouse", place)
        assert (done.returncode, done.stdout, done.stderr) == (0, "one\n---\n  1\n", "")


@pytest.fixture
def watched(s3, monkeypatch):
    with proxy(s3) as (url, behaviour):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        for name, value in (("REGION", "us-east-1"), ("ALLOW_HTTP", "true")):
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-of-the-test")
        yield behaviour


def test_files_and_row_groups_that_a_statement_does_not_need_are_not_read(tmp_path, watched):
    """Three files of one cluster each; bytes are counted by what the server is asked for."""
    groups = [{"cluster": name, "group_id": f"g-{name}", "partition": ord(name)} for name in "abc"]
    warehouse = make(tmp_path / "w", *({"offset_commits": [row] * 3} for row in groups))
    place = copied_to(tmp_path / "w", f"s3://bucket/{tmp_path.name}/w")
    result = {
        path.name: pq.read_table(path)["cluster"][0].as_py() for path in (tmp_path / "w").rglob("offset_c*/*.parquet")
    }
    assert sorted(result.values()) == ["a", "b", "c"]

    def read_by(statement):
        with DuckDBEngine(place).scope([statement]) as answer:
            watched.requests.clear()
            assert list(answer(statement).rows)
        return sorted({result[name] for name in result if any(name in request for request in watched.requests)})

    assert warehouse.versions()
    assert read_by("SELECT count(*) FROM offset_commits") == ["a", "b", "c"]
    assert read_by("SELECT group_id FROM offset_commits WHERE cluster = 'b'") == ["b"]
    assert read_by("SELECT group_id FROM offset_commits WHERE partition > 98") == ["c"]
    assert read_by("SELECT group_id FROM offset_commits WHERE group_id IN ('g-a', 'g-c')") == ["a", "c"]
    assert len(read_by("SELECT group_id FROM offset_commits LIMIT 1")) == 1


def test_of_a_large_file_no_more_is_read_than_the_columns_of_a_statement(tmp_path, watched, rng):
    """And its end, once. Most of the file are texts that nobody asks for."""
    warehouse, table = make(tmp_path / "w", {}), TABLES["offset_commits"]
    values = (
        {"record_offset": int(each), "metadata": rng.bytes(150).hex()} for each in rng.integers(2**62, size=30_000)
    )
    properties = WriterProperties(max_row_group_size=15_000)
    folder = warehouse.path(table.name)
    write_deltalake(str(folder), filled(table, list(values)), mode="append", writer_properties=properties)
    write_run(warehouse, "run-0002", {})
    (file,) = (path for path in Path(str(folder)).glob("*.parquet") if path.stat().st_size > SMALL_BYTES)
    metadata = pq.read_metadata(file)
    column = metadata.schema.names.index("record_offset")
    wanted = sum(metadata.row_group(group).column(column).total_compressed_size for group in range(2))
    place = copied_to(tmp_path / "w", f"s3://bucket/{tmp_path.name}/w")
    statement = "SELECT sum(record_offset) FROM offset_commits"
    with DuckDBEngine(place).scope([statement]) as answer:
        assert list(answer(statement).rows)
    read = sum(number for path, number in watched.answered.items() if file.name in path)
    assert wanted < read <= wanted + LAST_BYTES < file.stat().st_size / 5


def test_a_file_that_is_gone_or_damaged_is_a_matter_of_the_warehouse(tmp_path, elsewhere):
    make(tmp_path / "w", {"offset_commits": [{"group_id": f"g{number}"} for number in range(999)]})
    place = copied_to(tmp_path / "w", f"{elsewhere}/damaged")
    storage = storage_at(place, options_of(Settings()))
    (name,) = (file.name for file in storage.list("offset_commits") if file.name.endswith(".parquet"))
    for damage in (b"", b"PAR1 no more", None):
        if damage is None:
            storage.delete(name)
        else:
            storage.replace(name, damage)
        statement = "SELECT max(group_id) FROM offset_commits"
        with pytest.raises(Failure) as failure, DuckDBEngine(place).scope([statement]) as answer:
            list(answer(statement).rows)
        assert failure.value.code == ExitCode.UNUSABLE_WAREHOUSE
        assert str(failure.value).startswith(f"{place}/{name}: version 0 cannot be read: ")
        assert "\n" not in str(failure.value)


def test_places_that_hold_no_warehouse_are_reported_in_one_line(tmp_path, elsewhere, capfd, monkeypatch):
    for command in (["sql", "SELECT 1"], ["doctor"]):
        assert cli.main([*command, "--warehouse", f"{elsewhere}/none"]) == ExitCode.UNUSABLE_WAREHOUSE
        advice = "give the folder of a warehouse, or create one with `groupscope audit`"
        expected = f"{elsewhere}/none: no _warehouse.json in it; {advice}"
        assert capfd.readouterr() == ("", f"groupscope: {expected}\n")


@pytest.mark.parametrize("command", [["sql", "SELECT 1"], ["doctor"]])
def test_buckets_that_cannot_be_reached_are_reported_in_one_line(command, watched, capfd, monkeypatch):
    assert cli.main([*command, "--warehouse", "s3://nosuchbucket/w"]) == ExitCode.UNUSABLE_WAREHOUSE
    message = "no such bucket or container; give one that is there"
    assert capfd.readouterr() == ("", f"groupscope: s3://nosuchbucket/w/_warehouse.json: {message}\n")
    monkeypatch.setattr("jobs.configuration.settings.RETRY_SECONDS", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    assert cli.main([*command, "--warehouse", "s3://bucket/w"]) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("groupscope: s3://bucket/w")
    assert "no answer from the server, tried for " in line


def test_what_is_printed_for_duckdb_of_a_bucket_names_its_files(tmp_path, watched, capfd):
    """A bare DuckDB runs it: here without the extension, and with the names of local files in place of the bucket's."""
    make(tmp_path / "w", {"offset_commits": [{"record_offset": 7}], "ownership_intervals": [{"is_provisional": True}]})
    place = copied_to(tmp_path / "w", f"s3://bucket/{tmp_path.name}/w")
    assert cli.main(["sql", "--print-tables", "duckdb", "--warehouse", place]) == ExitCode.CLEAN
    text = capfd.readouterr().out
    begin = text.index("INSTALL httpfs;\nLOAD httpfs;\n")
    assert not duckdb.extract_statements(text[:begin])
    bare = duckdb.connect()
    bare.execute(text[begin:].replace("INSTALL httpfs;\nLOAD httpfs;\n", "").replace(f"'{place}/", f"'{tmp_path}/w/"))
    assert bare.execute("SELECT record_offset FROM offset_commits").fetchall() == [(7,)]
    assert bare.execute("SELECT is_provisional FROM ownership_intervals").fetchall() == [(True,)]
    assert bare.execute("SELECT count(*) FROM topics").fetchall() == [(0,)]
    bare.close()


def test_duckdb_names_containers_of_azure_after_the_host():
    """As its page on the extension azure has it; Hadoop names them before the host."""
    hadoop = "abfss://logs@Account.dfs.core.windows.net/w/runs/part-1.parquet"
    assert in_duckdb(hadoop) == "abfss://account.dfs.core.windows.net/logs/w/runs/part-1.parquet"
    assert in_duckdb("s3://bucket/w/a@b.parquet") == "s3://bucket/w/a@b.parquet"


@pytest.mark.parametrize("engine", ["spark", "trino"])
def test_what_is_printed_for_other_engines_names_the_place(engine, tmp_path, watched, capfd):
    make(tmp_path / "w", {})
    place = copied_to(tmp_path / "w", f"s3://bucket/{tmp_path.name}/w")
    assert cli.main(["sql", "--print-tables", engine, "--warehouse", place]) == ExitCode.CLEAN
    text = capfd.readouterr().out
    quote = "`" if engine == "spark" else "'"
    assert f"{quote}{place}/offset_commits{quote}" in text
    assert "file:" not in text


def test_a_local_warehouse_is_answered_without_loading_what_storages_need(tmp_path):
    warehouse = make(tmp_path / "w", {"offset_commits": [{}]})
    asked = f"main(['sql', 'SELECT count(*) AS n FROM offset_commits', '--warehouse', {str(warehouse.root)!r}])"
    unwanted = {"obstore", "hdfs_native", "pyarrow.dataset", "jobs.queries.files.datasets"}
    program = f"import sys; from jobs.cli import main; {asked}; print({unwanted} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"
