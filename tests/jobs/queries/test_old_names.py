"""Whoever uses a name of an earlier contract version is told the new one: in SQL of both engines, suites, files of
metrics, waivers and settings."""

import json

import pytest

from jobs.configuration.settings import load_settings
from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.suites import suites
from jobs.gating.declarations.waivers import waivers
from jobs.output.failure import Failure
from jobs.queries.engines import spark_engine
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.listings import columns_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from tests.make.tables import make

OPEN = "is_open is is_provisional since version 3"
FROM = "from_offset is from_record_offset since version 3"
LAG = "lag_floor is lag since version 3"
OLD = {
    "SELECT is_open FROM topics": OPEN,
    "SELECT count(*) FROM rebalances WHERE NOT Is_Open": OPEN,
    "SELECT held.from_offset FROM offset_history AS held": FROM,
    "SELECT * FROM (SELECT * FROM offset_history) AS held ORDER BY held.from_offset": FROM,
    "SELECT lag_floor FROM lag_at('g', '2026-11-21T03:00')": LAG,
    "SELECT lag_floor_p95 FROM v_lag_daily": "lag_floor_p95 is lag_p95 since version 3",
    "SELECT lag_data FROM lag_points": "lag_data is gone since version 3",
    "SELECT * FROM commit_findings": "commit_findings is odd_commits since version 3",
    "SELECT * FROM dim_enum AS words": "dim_enum is v_enums since version 3",
    "WITH a AS (SELECT * FROM record_headroom) SELECT * FROM a": "record_headroom is v_record_headroom since version 3",
}
# What does not say of a name that it is old.
OTHERS = ["SELECT from_ofset FROM gate_spans", "SELECT 'is_open' + topics FROM topics", "SELECT * FROM is_op"]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old-names") / "w"
    make(folder, {"topics": [{"topic": "t"}]})
    return folder


def refused(answer, statement):
    with pytest.raises(Failure) as failure:
        list(answer(statement).rows)
    assert failure.value.code == 2 and "\n" not in str(failure.value)
    return str(failure.value)


def test_duckdb_says_what_an_old_name_is_called(warehouse):
    with DuckDBEngine(str(warehouse)).scope([*OLD, *OTHERS]) as answer:
        for statement, since in OLD.items():
            assert refused(answer, statement).endswith(f" ({since})")
        assert not any("since version" in refused(answer, statement) for statement in OTHERS)
        # Offsets of data have their old name.
        assert list(answer("SELECT from_offset, to_offset FROM gate_spans").rows) == []


@pytest.mark.spark
def test_spark_says_what_an_old_name_is_called(warehouse, spark):
    opened = reading(LocalPlace(warehouse))
    spark_engine.bring_into_scope(spark, opened, opened.readable_versions(), [*OLD, *OTHERS])
    try:
        for statement, since in OLD.items():
            assert refused(lambda text: spark_engine.answer(spark, text), statement).endswith(f" ({since})")
        for statement in OTHERS:
            assert "since version" not in refused(lambda text: spark_engine.answer(spark, text), statement)
    finally:
        spark_engine.forget(spark)


def test_the_prompt_says_what_an_old_view_is_called():
    with pytest.raises(Failure, match="dim_enum: no such table, view or function, dim_enum is v_enums since version 3"):
        columns_of("dim_enum")


def suite(**meta):
    listed = {"type": "expect_column_to_exist", "kwargs": {"column": "num_rows"}, "meta": meta.pop("own", {})}
    return json.dumps({"meta": meta, "expectations": [listed]})


METRICS = "-- Mine.\n-- num_rows: Rows.\n{line}SELECT count(*) AS num_rows FROM topics"
LIMIT = "-- limit num_rows warning: 0, rows by SELECT * FROM {table} WHERE {column}\n"


@pytest.mark.parametrize(
    ("files_of", "since"),
    [
        ({"expectations/commit_findings.json": suite()}, "commit_findings is odd_commits since version 3"),
        ({"expectations/a.json": suite(table="commit_findings")}, "commit_findings is odd_commits since version 3"),
        (
            {"expectations/a.json": suite(table="topics", rows_due=["commit_findings.num_rows"])},
            "commit_findings is odd_commits since version 3",
        ),
        ({"expectations/a.json": suite(table="topics", own={"query": "SELECT is_open FROM topics"})}, OPEN),
        ({"metrics/topic_consumers.sql": METRICS.format(line="")}, "topic_consumers is v_topic_consumers since"),
        ({"metrics/a.sql": METRICS.format(line=LIMIT.format(table="topics", column="is_open"))}, OPEN),
        ({"metrics/a.sql": METRICS.format(line=LIMIT.format(table="dim_enum", column="TRUE"))}, "dim_enum is v_enums"),
        ({"groupscope.toml": "[gate]\nlag_floor = 1"}, LAG),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_files_that_use_an_old_name_are_refused_with_the_new_one(tmp_path, files_of, since):
    config = tmp_path / "groupscope.toml"
    config.write_text("")
    for name, text in files_of.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(Failure) as failure:
        load_settings(config)
        suites(metric_files(config), config)
    assert failure.value.code == 2 and since in str(failure.value) and "\n" not in str(failure.value)
    assert str(tmp_path / next(iter(files_of))) in str(failure.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT from_offset FROM gate_spans",
        "SELECT is_provisional AS is_open FROM topics -- is_open",
        "WITH topic_consumers AS (SELECT 1) SELECT 'dim_enum' FROM topic_consumers",
        "SELECT from_offset FROM gate_spans JOIN offset_history USING (group_id)",
    ],
)
def test_sql_of_a_suite_may_have_such_names_of_its_own(tmp_path, query):
    (tmp_path / "expectations").mkdir()
    (tmp_path / "expectations" / "a.json").write_text(suite(table="topics", own={"query": query}))
    config = tmp_path / "groupscope.toml"
    assert "a" in {each.name for each in suites(metric_files(config), config)}


@pytest.mark.parametrize(
    ("kind", "key", "since"),
    [("commit_findings", "group", "commit_findings is odd_commits since version 3"), ("odd_commits", "is_open", OPEN)],
)
def test_a_waiver_with_an_old_name_is_refused_with_the_new_one(tmp_path, kind, key, since):
    text = f'[[waivers]]\nkind = "{kind}"\n{key} = "g"\nreason = "r"\nwho = "ada"\nuntil = 2026-12-01\n'
    (tmp_path / "waivers.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        waivers(tmp_path / "groupscope.toml")
    assert failure.value.code == 2 and str(failure.value).endswith(f", {since}")
