"""The functions as queries call them, in DuckDB and in Spark: `kafka_assign` answers what the command answers, byte by
byte, and both engines answer alike."""

import inspect
import json
import random
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs import cli
from jobs.queries.engines.duckdb_functions import register_duckdb
from schemas.tables import SCALAR_FUNCTIONS
from schemas.words.exit_codes import ExitCode
from tests.builders.assignors import client_cases, server_cases
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY
from tests.builders.records.random_records import Draw
from tests.make.tables import make
from udfs.scalar_functions import KERNELS

NEWEST = (4, 3, 1)
RANGE = {
    "id": 7,
    "group_protocol": "classic",
    "assignor": "range",
    "topics": [{"name": "orders", "partitions": 1}],
    "members": [{"member_id": "a", "subscribed_topics": ["orders"]}],
}
WRONG = ["", " ", "{", "null", "[NaN]", '{"id": -1e999}', '{"id": {"a": [1, "é"]}, "x": 1}', "[" * 5_000, "\ufeff{}"]


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        register_duckdb(opened)
        yield opened


def random_specs(rng):
    specs = [
        client_cases.random_spec(rng, assignor, NEWEST) | {"release": "4.3"}
        for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky")
        for _ in range(15)
    ]
    for is_equal in (True, False):
        specs += [
            server_cases.random_spec(rng, assignor, is_equal) for assignor in ("range", "uniform") for _ in "abcd"
        ]
        specs += [server_cases.random_share_spec(rng, is_equal) for _ in "abcd"]
    return [json.dumps(spec, ensure_ascii=bool(i % 2)) for i, spec in enumerate(specs)] + WRONG


def answers_of_command(lines):
    """As if each line were the command's only one."""
    text = "".join(f"{line}\n" for line in lines)
    command = [sys.executable, "-m", "jobs.cli", "assign"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, timeout=300)
    answers = done.stdout.decode().splitlines()
    return [answer.replace(f'"line {number}: ', '"line 1: ') for number, answer in enumerate(answers, 1)]


def mixed_rows(seed):
    chance = random.Random(seed)
    rows = [(record.key_bytes, record.value_bytes) for record in Draw(chance, is_large=False).records(each=40)]
    rows += [(chance.randbytes(chance.randrange(20)), chance.randbytes(chance.randrange(90))) for _ in range(200)]
    rows += [
        (None, None),
        (None, b""),
        (b"", None),
        (b"", b""),
        (COMMIT_KEY, COMMIT_V3 * 9_999),
        (b"\xff" * 99_999, b""),
    ]
    return chance.sample(rows, len(rows))


@pytest.mark.parametrize("function", SCALAR_FUNCTIONS.values(), ids=lambda function: function.name)
def test_a_function_takes_its_declared_arguments(function):
    """SQL may name them."""
    assert list(inspect.signature(KERNELS[function.name]).parameters) == [each.name for each in function.arguments]


# DuckDB


def test_duckdb_answers_what_the_command_answers(rng, connection):
    specs = random_specs(rng)
    wanted = answers_of_command(specs)
    connection.register("specs", pa.table({"number": range(len(specs)), "spec": specs}))
    answers = connection.execute("SELECT kafka_assign(spec) FROM specs ORDER BY number").fetchall()
    assert [answer for (answer,) in answers] == wanted
    assert sum('"assignment"' in answer for answer in wanted) > 60


def test_duckdb_hands_null_to_the_functions(connection):
    assert connection.execute("SELECT kafka_assign(NULL)").fetchone() == (None,)
    query = "SELECT decode_offsets_record($1, NULL).type, decode_offsets_record(NULL, $1).rejected.reason"
    assert connection.execute(query, [GROUP_KEY]).fetchone() == ("GroupMetadata", "null_key")


def test_duckdb_answers_nothing_for_no_rows(connection):
    query = (
        "SELECT kafka_assign(x::VARCHAR), decode_offsets_record(x, x) FROM (SELECT 'a'::BLOB AS x) WHERE x = 'b'::BLOB"
    )
    assert connection.execute(query).fetchall() == []


# Spark


@pytest.fixture(scope="module")
def functions(spark):
    from jobs.functions import register

    return register(spark)


@pytest.mark.spark
def test_spark_decodes_as_duckdb_does(seed, spark, functions, connection):
    """Thousands of rows in several batches of several tasks, by the frame's function and by SQL."""
    keys, values = zip(*mixed_rows(seed), strict=True)
    columns = {"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())}
    records = pa.table({"number": range(len(keys)), **columns})
    connection.register("records", records)
    query = "SELECT decode_offsets_record(key, value) AS record FROM records ORDER BY number"
    wanted = connection.sql(query).to_arrow_table().column("record").to_pylist()
    frame = spark.createDataFrame(records).repartition(3)
    frame.createOrReplaceTempView("records")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    try:
        by_frame = frame.select("number", functions.decode_offsets_record("key", "value").alias("record"))
        assert by_frame.orderBy("number").toArrow().column("record").to_pylist() == wanted
        named = "SELECT number, decode_offsets_record(value => value, key => key) AS record FROM records"
        assert spark.sql(named).orderBy("number").toArrow().column("record").to_pylist() == wanted
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert {struct["rejected"] is None for struct in wanted} == {True, False}


@pytest.mark.spark
@pytest.mark.parametrize("has_large_types", ["false", "true"])
def test_spark_answers_what_the_command_answers(rng, spark, functions, has_large_types):
    specs = random_specs(rng)
    frame = spark.createDataFrame(pa.table({"number": range(len(specs)), "spec": specs})).repartition(2)
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", has_large_types)
    try:
        rows = frame.select("number", functions.kafka_assign("spec").alias("answer")).orderBy("number").collect()
        (record,) = spark.sql("SELECT decode_offsets_record(X'0002000167', NULL).key").first()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    assert [row.answer for row in rows] == answers_of_command(specs)
    assert record == '{"group":"g"}'


@pytest.mark.spark
def test_spark_answers_text_that_is_not_utf8_by_an_error(spark, functions):
    rows = spark.sql("SELECT kafka_assign(CAST(spec AS STRING)) FROM VALUES (X'7B22FF'), (NULL) AS specs(spec)")
    assert [answer for (answer,) in rows.collect()] == [
        '{"id": null, "error": "line 1: no JSON: byte 3 is not UTF-8"}',
        None,
    ]


@pytest.mark.spark
def test_nulls_of_pandas_are_null(spark, functions):
    frame = pd.DataFrame({"key": [COMMIT_KEY, None, np.nan, COMMIT_KEY], "value": [COMMIT_V3, b"", None, np.nan]})
    frame["spec"] = [json.dumps(RANGE), None, np.nan, pd.NA]
    rows = spark.createDataFrame(frame, "key BINARY, value BINARY, spec STRING")
    record = functions.decode_offsets_record("key", "value")
    result = rows.select(record.value_version, record.rejected.reason, functions.kafka_assign("spec")).collect()
    assert [tuple(row)[:2] for row in result] == [(3, None), (None, "null_key"), (None, "null_key"), (None, None)]
    answer = '{"id": 7, "assignment": [{"member_id": "a", "partitions": [["orders", 0]]}], "order": "exact"}'
    assert [row[2] for row in result] == [answer, None, None, None]


@pytest.mark.spark
def test_spark_answers_nothing_for_no_rows(spark, functions):
    nothing = spark.range(4).where("id > 9").selectExpr("CAST(id AS STRING) AS x").repartition(3)
    assert nothing.select(functions.kafka_assign("x"), functions.decode_offsets_record("x", "x")).collect() == []


@pytest.mark.spark
def test_columns_of_the_result_are_the_declared_ones(spark, functions):
    schema = spark.sql("SELECT decode_offsets_record(NULL, NULL) AS record, kafka_assign('') AS answer").schema
    assert schema.simpleString() == (
        "struct<record:struct<record_type:int,type:string,key:string,value:string,value_version:int,"
        "rejected:struct<part:string,field:string,reason:string,detail:string>>,answer:string>"
    )


def test_the_sql_command_knows_the_functions_where_a_statement_names_them(tmp_path, capfd):
    warehouse = make(tmp_path / "w", {}).root.path
    statement = (
        "SELECT kafka_assign('[]') AS answer, decode_offsets_record('\\x00\\x02\\x00\\x01g'::BLOB, NULL).type AS t"
    )
    assert cli.main(["sql", statement, "--warehouse", str(warehouse), "--format", "json"]) == ExitCode.CLEAN
    document = json.loads(capfd.readouterr().out)
    assert document["t"] == "GroupMetadata"
    assert json.loads(document["answer"])["error"].startswith("line 1")
