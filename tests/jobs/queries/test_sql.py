"""`groupscope sql` as users run it: answers of DuckDB over one warehouse, and what is refused. That Spark gives the
same is shown by test_engines.py."""

import argparse
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake

from jobs.command_line.flags import add_arguments
from jobs.output.failure import Failure
from jobs.queries.definitions.dialects import Dialect
from jobs.queries.definitions.views import view_definitions
from jobs.queries.engines.catalog import register
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.engines.spark_engine import SparkEngine
from jobs.sql import engine_of
from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from tests.builders.tables.history import interval
from tests.make.tables import filled, make
from tests.oracles.views.coverage import coverage
from tests.runs.typed_here import typed_here
from tests.schemas.views.test_decode_coverage import random_rows

ROOT = Path(__file__).parents[3]
HOSTILE = "a\x1b[2J\u202e"


def sql(*arguments, timeout=900):
    command = [sys.executable, "-m", "jobs.cli", "sql", *map(str, arguments)]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, timeout=timeout, check=False
    )


@pytest.fixture
def rows(rng):
    result = random_rows(rng, 400)
    result["offset_commits"].append({"cluster": "z", "record_offset": 2**62, "group_id": HOSTILE, "key_version": 1})
    return result


STATEMENTS = """
-- What an audit asks; and more.
SELECT * FROM v_decode_coverage WHERE cluster <> 'z';
SELECT record_offset, group_id, record_time, metadata FROM offset_commits WHERE cluster = 'z';
SHOW TABLES;
SELECT timestamptz '2026-03-29T03:30:00+01:00' AS t, X'00ff'::BLOB AS b, map {'a': 1} AS m, {'x': [1, NULL]} AS s,
  sum(4611686018427387904) AS h, 0.10 AS d, '00000000-0000-0000-0000-000000000001'::UUID AS u;
SELECT count(*) AS n, max(range) AS last FROM range(200000);
SELECT table_versions['offset_commits'] AS version FROM runs;
SELECT nothing FROM runs
"""


def test_every_statement_is_answered_at_the_versions_that_runs_name(tmp_path, rows):
    warehouse = make(tmp_path / "warehouse", rows)
    # As a run leaves a table that is killed before it writes `runs`.
    write_deltalake(
        warehouse.path("offset_commits").path, filled(TABLES["offset_commits"], [{"cluster": "z"}]), mode="append"
    )
    (tmp_path / "questions.sql").write_text(STATEMENTS)
    done = sql(tmp_path / "questions.sql", "--warehouse", warehouse.root.path, "--format", "json")

    message = 'groupscope: statement 7: Binder Error: Referenced column "nothing" not found in FROM clause!'
    assert (done.returncode, done.stderr[: len(message)], done.stderr.count("\n")) == (2, message, 1)
    result = [json.loads(line) for line in done.stdout.splitlines()]
    del rows["offset_commits"][-1]
    expected = coverage(rows)
    assert [{name: parsed(name, value) for name, value in row.items()} for row in result[: len(expected)]] == expected
    commit, *others = result[len(expected) :]
    assert commit == {"record_offset": 2**62, "group_id": HOSTILE, "record_time": None, "metadata": None}
    shown, (literals, counted, version) = others[:-3], others[-3:]
    assert {row["name"] for row in shown} == {each.name for each in TABLES.values() if not each.is_state} | set(VIEWS)
    assert literals == {
        "t": "2026-03-29T02:30:00.000Z",
        "b": "00ff",
        "m": {"a": 1},
        "s": {"x": [1, None]},
        "h": 2**62,
        "d": 0.1,
        "u": "00000000-0000-0000-0000-000000000001",
    }
    assert counted == {"n": 200_000, "last": 199_999}
    assert version == {"version": DeltaTable(warehouse.path("offset_commits").path).version() - 1}


INSTANTS = """
SELECT cluster, group_id, member_id FROM owner_at('orders', 3, timestamptz'2026-11-21T03:00:10Z');
SELECT cluster, group_id, member_id FROM owner_at('orders', 3, '2026-11-21T03:00:09.999Z', cluster => 'a');
SELECT cluster, group_id, member_id FROM owner_at('orders', 3, 1795230009999, 'a');
SELECT cluster, group_id, member_id FROM owner_at('orders', 3, 1795230009, 'a');
SELECT cluster, group_id, member_id FROM owner_at('orders', '3', 1795230009999.9, cluster := 'a');
SELECT cluster, group_id, member_id FROM owner_at('orders', 3, timestamp '2026-11-21 03:00:09.999', 'a');
SELECT cluster, state, assignor FROM group_state_at('billing', '2026-11-21T03:00:20Z');
SELECT cluster, member_id, client_host FROM members_at('billing', '2026-11-21T03:00:09Z', 'a');
SELECT topic, partition, committed_offset, evidence_first_offset FROM offset_at('billing', 'orders', 3, now(), 'a');
SELECT asked.time, found.member_id
FROM (VALUES (timestamptz'2026-11-21T03:00:01Z'), (timestamptz'2026-11-21T03:00:11Z')) AS asked (time),
  LATERAL owner_at('orders', 3, asked.time, 'a') AS found
ORDER BY 1;
SELECT cluster, partition, lag_raw FROM lag_at('billing', '2026-11-21T03:00:19.999Z') ORDER BY 1, 2;
SELECT cluster, partition, lag_raw FROM lag_at('billing', '2026-11-21T03:00:20Z', 'a');
SELECT cluster, partition, lag_raw FROM lag_at('billing', '2026-11-21T02:59:59Z')
"""


def test_functions_answer_of_an_instant_in_every_cluster_or_in_one(tmp_path):
    group = {"group_id": "billing"}
    owned = {**group, "topic": "orders", "partition": 3}
    commit = {**owned, "via": "plain", "num_commits": 1}
    warehouse = make(
        tmp_path / "warehouse",
        {
            "ownership_intervals": [
                {**interval(0, 10, 1), **owned, "member_id": "one"},
                {**interval(10, None, 2), **owned, "member_id": "two"},
                {**interval(0, None, 1), **owned, "member_id": "elsewhere", "partition": 4},
                {**interval(0, None, 1), **owned, "member_id": "three", "cluster": "b"},
            ],
            "group_state_intervals": [{**interval(20, None, 3), **group, "state": "Stable", "assignor": "range"}],
            "membership_intervals": [{**interval(0, 10, 1), **group, "member_id": "one", "client_host": "/h"}],
            "offset_history": [
                {**interval(0, 10, 4), **commit, "committed_offset": 5},
                {**interval(10, None, 6), **commit, "committed_offset": 4},
            ],
            # At 20 s partition 4 is no longer there; another group has a snapshot of its own.
            "lag_points": [
                {**behind(second, number), "lag_raw": 10 * second + number}
                for second, number in ((0, 3), (10, 3), (10, 4), (20, 3))
            ]
            + [{**behind(5, 3), "lag_raw": 7, "cluster": "b"}, {**behind(15, 3), "group_id": "other"}],
        },
    )
    (tmp_path / "questions.sql").write_text(INSTANTS)
    done = sql(tmp_path / "questions.sql", "--warehouse", warehouse.root.path, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = [tuple(json.loads(line).values()) for line in done.stdout.splitlines()]
    assert sorted(result[:2]) == [("a", "billing", "two"), ("b", "billing", "three")]
    assert result[2:] == [
        ("a", "billing", "one"),
        # A number is epoch milliseconds as everywhere: one of seconds lies in 1970, where there is no row.
        *[("a", "billing", "one")] * 3,
        ("a", "Stable", "range"),
        ("a", "one", "/h"),
        ("orders", 3, 4, 6),
        ("2026-11-21T03:00:01.000Z", "one"),
        ("2026-11-21T03:00:11.000Z", "two"),
        *(("a", 3, 103), ("a", 4, 104), ("b", 3, 7)),
        ("a", 3, 203),
    ]


def behind(second, partition):
    reported = {"group_id": "billing", "topic": "orders", "partition": partition}
    return {**reported, "snapshot_time": interval(second, None, 0)["from_time"]}


def parsed(name, value):
    return datetime.fromisoformat(value) if name.endswith("_time") and value else value


@pytest.mark.spark
def test_tables_and_views_are_registered_with_their_comments(spark, tmp_path):
    rows = {
        "offset_commits": [{"record_offset": 1}, {"record_offset": 2}],
        "ownership_intervals": [{**interval(0, None, 7), "topic": "orders", "partition": 3, "member_id": "one"}],
    }
    first, second = (make(tmp_path / name, rows) for name in ("it's one", "two"))
    spark.sql("CREATE DATABASE kafka")
    try:
        reads = (*VIEWS["v_decode_coverage"].reads, "ownership_intervals")
        # State is no table to query.
        columns, result = register(spark, first, (*reads, "replayed_groups"), "kafka")
        assert columns == ("database", "name", "kind", "location")
        # Those whose tables are there; one needs none.
        assert [row[:3] for row in result if row[2] == "view"] == [
            ("kafka", name, "view") for name in ("v_decode_coverage", "v_enums")
        ]
        assert [row[1] for row in result if row[2] == "function"] == ["owner_at"]
        owner = "SELECT member_id, evidence_first_offset FROM kafka.owner_at('orders', 3, '2026-11-21T03:00:00Z')"
        assert spark.sql(owner).collect() == [("one", 7)]
        assert {row[1] for row in result if row[2] == "table"} == set(reads)
        assert spark.sql("SELECT sum(record_offset) FROM kafka.offset_commits").first() == (3,)
        assert spark.sql("SELECT num_records FROM kafka.v_decode_coverage").first() == (2,)
        described = spark.sql("DESCRIBE kafka.v_decode_coverage").collect()
        assert [tuple(row) for row in described] == [
            (column.name, column.type.lower(), column.comment) for column in VIEWS["v_decode_coverage"].columns
        ]
        register(spark, first, ["offset_commits"], "kafka")  # again: nothing changes
        with pytest.raises(
            Failure, match=r"one/offset_\w+, not at .*two/offset_\w+; give another --database"
        ) as failure:
            register(spark, second, ["offset_commits"], "kafka")
        assert failure.value.code == ExitCode.USAGE
    finally:
        spark.sql("USE default")
        spark.sql("DROP DATABASE kafka CASCADE")


@pytest.mark.parametrize("dialect", Dialect)
def test_definitions_of_views_are_printed_without_a_warehouse(dialect):
    done = typed_here(["sql", "--print-views", dialect], ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n".join(view_definitions(dialect)) + "\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["SELECT 1", "--warehouse", "absent"],
            23,
            "absent: no such folder; give the folder of a warehouse, or create one with `groupscope audit`",
        ),
        (["SELECT 1", "--warehouse", "jobs"], 23, "jobs: no _warehouse.json in it"),
        (["DROP TABLE runs"], 2, "DROP: only reads are allowed"),
        (["DROP TABLE runs", "--engine", "spark"], 2, "DROP: only reads are allowed"),
        (["absent.sql"], 2, "absent.sql: No such file or directory; give a file of SQL"),
        ([], 2, "standard input: holds no statement"),
        (["SELECT '\udcff'"], 2, "\"SELECT '\\udcff'\"; give SQL in UTF-8"),
        ([" ; -- nothing"], 2, "' ; -- nothing': holds no statement"),
        (["SELECT 1; selec 2"], 2, 'Parser Error: syntax error at or near "selec"'),
        (["SELECT 1", "--database", "x"], 2, "--database x: only with --register"),
        (["SELECT 1", "--print-views", "oracle"], 2, "argument --print-views: invalid choice: 'oracle'"),
        (["SELECT 1", "--print-tables", "trino"], 2, "--print-tables runs no statement; leave out 'SELECT 1'"),
        (
            ["--print-tables", "duckdb", "--warehouse", "hdfs://h/w"],
            2,
            "--print-tables duckdb: hdfs://h/w: DuckDB itself reads no HDFS; give a warehouse on local disks",
        ),
        (
            ["SELECT 1", "--warehouse", "ftp://h/w"],
            2,
            "ftp://h/w: unknown kind of storage ftp:; give a path, file:, s3://",
        ),
        (["--print-tables", "duckdb", "--warehouse", "absent"], 23, "absent: no such folder"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(arguments, code, message):
    # Standard input is of a process of its own.
    done = typed_here(["sql", *arguments], ROOT) if arguments else sql(timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith(f"groupscope: {message}")


def test_a_standard_input_that_is_closed_is_reported_in_one_line():
    """As a service may start the command."""
    command = f"{sys.executable} -m jobs.cli sql <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "groupscope: standard input is closed; give SQL there, or SQL or a file of it as argument\n"


def test_neither_java_nor_spark_is_loaded_for_an_answer(tmp_path):
    warehouse = make(tmp_path / "warehouse", {"offset_commits": [{}]})
    asked = f"main(['sql', 'SELECT count(*) AS n FROM offset_commits', '--warehouse', {str(warehouse.root)!r}])"
    program = f"import sys; from jobs.cli import main; {asked}; print({{'pyspark', 'py4j'}} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    assert done.stdout.splitlines()[2:] == ["1", "set()"]


def test_duckdb_is_loaded_for_sql_alone():
    program = (
        "import sys; from jobs.cli import main; main(['groups', '--warehouse', '/']); print('duckdb' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("words", "environment", "engine"),
    [
        ([], {}, DuckDBEngine),
        (["--engine", "spark"], {}, SparkEngine),
        (["--warehouse", "hdfs://h/w"], {}, DuckDBEngine),
        (["--warehouse", "s3://b/w", "--engine", "spark"], {}, SparkEngine),
        ([], {"PYSPARK_GATEWAY_PORT": "1"}, SparkEngine),
        (["--engine", "local"], {"PYSPARK_GATEWAY_PORT": "1"}, DuckDBEngine),
    ],
)
def test_how_it_was_started_says_who_answers_wherever_the_tables_are(words, environment, engine, monkeypatch):
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    parser = argparse.ArgumentParser()
    add_arguments(parser, "sql")
    assert type(engine_of(argparse.Namespace(debug=False, **vars(parser.parse_args(words))))) is engine


def test_statements_come_by_standard_input(tmp_path):
    warehouse = make(tmp_path / "warehouse", {})
    command = [sys.executable, "-m", "jobs.cli", "sql", "--warehouse", str(warehouse.root), "--format", "csv"]
    done = subprocess.run(
        command, input=b"SELECT 1 AS a;\nSELECT ';' AS b;\n", capture_output=True, cwd=ROOT, timeout=60, check=True
    )
    assert done.stdout == b"a\n1\n\nb\n;\n"
