"""A warehouse of contract version 2: the first run of this release that writes brings it up to date. No row is lost or
made anew, whatever stops the run, and what comes after is as if this release had written all of it."""

import json
import random
import re
import shlex
import shutil
import signal

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.doctor import run_checks
from jobs.queries.engines.duckdb_engine import scope_of
from jobs.runs.version_2 import about_suite_now, query_now
from jobs.storage.failpoints import FAILPOINTS, VARIABLE
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.tables import TABLES, USER_TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied_to, elsewhere, fetched
from tests.builders.warehouses.version_2 import (
    GROUP,
    SAMPLE,
    audit,
    kept_year,
    later_day,
    run,
    two_clusters,
    unpacked,
    validated,
)
from tests.faults.at_steps import at
from tests.faults.forked_runs import WITHOUT_SPARK, forked_runs
from tests.runs.refused import fill, mounted
from tests.runs.replayed_logs import OF_THE_RUN

__all__ = ["elsewhere"]

INTERVALS = ("group_state_intervals", "membership_intervals", "ownership_intervals", "offset_history")
# What the contract says of version 3.
OFFSETS = {"from_offset": "from_record_offset", "to_offset": "to_record_offset"}
LAGS = {f"lag_floor{end}": f"lag{end}" for end in ("", "_p50", "_p95", "_p99", "_max")}
ONLY_OLD = {"lag_data"}
VIEWS = {"lag_daily", "rebalances_daily", "topic_consumers", "partition_coverage", "record_headroom"}
# Steps of the run beside those of every run.
STEPS = ["declared_beside_runs", "former_deleted", "marker_written"]
READERS = [
    ["groups"], ["status"], ["why", GROUP], ["rebalances", GROUP], ["sql", "SELECT 1"], ["report"], ["doctor"],
    ["maintain", "--keep", "400d", "--dry-run"],
]  # fmt: skip
# Where a log was, before the cluster that it is of.
LOG = re.compile(r"/[^ ']*/((?:one|two)/__consumer_offsets)")
OF_RUN = OF_THE_RUN | {"query", "basis", "suites_basis", "recorded_time", "source_file", "modified_time"}


def rows_of(warehouse, name):
    """As any reader of Delta has them."""
    return DeltaTable(warehouse / name).to_pyarrow_table().to_pylist()


def texts(rows):
    """Without what is of the run, or of the place of the log."""
    return sorted(
        LOG.sub(r"\1", repr({name: row[name] for name in sorted(row) if name not in OF_RUN}))
        for row in rows
        if row.get("table_name") not in ("runs", "source_files")
    )


def tables_in(warehouse):
    return {str(log.parent.relative_to(warehouse)) for log in warehouse.rglob("_delta_log")}


def new_name(table, column):
    names = {"is_open": "is_provisional", **LAGS}
    return {**names, **(OFFSETS if table in (*INTERVALS, "rejected_records", "_state/replayed_offsets") else {})}.get(
        column, column
    )


def check_same_as_fresh(warehouse, fresh):
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status != "ok"] == []
    assert tables_in(warehouse) == tables_in(fresh)
    for name in tables_in(fresh) - {"runs"}:
        assert texts(rows_of(warehouse, name)) == texts(rows_of(fresh, name)), name


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """Tests only read it."""
    return unpacked("clusters", tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def brought(before, tmp_path_factory):
    """The same after a run."""
    warehouse = shutil.copytree(before, tmp_path_factory.mktemp("brought") / "w")
    run("replay", "--cluster", "one", "--warehouse", warehouse)
    return warehouse


def test_every_row_stays_by_the_names_of_today(before, brought):
    assert tables_in(brought) == {"odd_commits" if each == "commit_findings" else each for each in tables_in(before)}
    for table in tables_in(before) - {"runs", "gate_metrics", "gate_runs", "gate_results", "findings"}:
        named = [
            {new_name(table, column): value for column, value in row.items() if column not in ONLY_OLD}
            for row in rows_of(before, table)
        ]
        assert rows_of(brought, {"commit_findings": "odd_commits"}.get(table, table)) == named, table
    assert len(rows_of(brought, "rejected_records")) == 1
    assert {row["from_record_offset"] for row in rows_of(brought, "rejected_records")} != {None}


def test_files_of_records_and_snapshots_stay_as_they_are(before, brought):
    def names(warehouse, table):
        return sorted(uri.rpartition("/")[2] for uri in DeltaTable(warehouse / table).file_uris())

    tables = [name for name, table in USER_TABLES.items() if table.job == "ingest" and name != "rejected_records"]
    for table in tables_in(before) & {*tables}:
        assert names(before, table) == names(brought, table)


def test_names_that_are_values_are_those_of_today(before, brought):
    suites = {row["suite"] for row in rows_of(before, "gate_runs")}
    assert "commit_findings" in suites
    assert {row["suite"] for row in rows_of(brought, "gate_runs")} == suites - {"commit_findings"} | {"odd_commits"}
    for table, column in (("gate_results", "suite"), ("gate_metrics", "table_name")):
        found = {row[column] for row in rows_of(brought, table)}
        assert "odd_commits" in found and "commit_findings" not in found
    left = {"first_seen_time", "is_new", "waived_until_time", "subject", "message", "rank", "severity"}
    kept = [[{name: row[name] for name in left} for row in rows_of(each, "findings")] for each in (before, brought)]
    assert kept[0] == kept[1]
    assert {row["waived_until_time"] is not None for row in kept[1]} == {True, False}
    jobs = [(row["cluster"], row["run_id"], row["job"]) for row in rows_of(before, "runs")]
    now = [(row["cluster"], row["run_id"], row["job"]) for row in rows_of(brought, "runs")]
    assert set(now) > set(jobs) and sorted(job for *_, job in set(now) - set(jobs)) == ["replay", "upgrade", "upgrade"]


def test_every_query_of_the_gate_still_answers(brought):
    """By the engine that people ask."""
    queries = {row["query"] for table in ("findings", "gate_results") for row in rows_of(brought, table)} - {None}
    with scope_of(reading(LocalPlace(brought)), [*queries]) as answer:
        for query in queries:
            answer(query)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "SELECT lag_floor FROM lag_points WHERE is_open AND x = 'is_open' -- is_open",
            "SELECT lag FROM lag_points WHERE is_provisional AND x = 'is_open' -- is_open",
        ),
        ("SELECT to_offset FROM gate_spans", "SELECT to_offset FROM gate_spans"),
        ("SELECT a.from_offset FROM offset_history a", "SELECT a.from_record_offset FROM offset_history a"),
        (
            "SELECT * FROM gate_results WHERE suite = 'commit_findings' AND run_id = 'commit_findings'",
            "SELECT * FROM gate_results WHERE suite = 'odd_commits' AND run_id = 'commit_findings'",
        ),
        ("SELECT lag_floor_p95 FROM lag_daily, dim_enum", "SELECT lag_p95 FROM v_lag_daily, v_enums"),
        ("SELECT from_offsets FROM offset_resets", "SELECT from_offsets FROM offset_resets"),
    ],
)
def test_words_of_a_query_that_are_names(old, new):
    assert query_now(old) == new


def test_a_finding_about_a_suite_is_the_same_one_after_it():
    assert about_suite_now("commit_findings: num_rows") == "odd_commits: num_rows"
    assert about_suite_now("suite lag_daily: lag is 3") == "suite v_lag_daily: lag is 3"
    assert about_suite_now("group commit_findings: went") == "group commit_findings: went"


@pytest.mark.parametrize("words", READERS, ids=lambda words: words[0])
def test_readers_say_until_then_which_command_does_it(before, words, capfd):
    files = {path: path.read_bytes() for path in before.rglob("*") if path.is_file()}
    assert cli.main([*words, "--warehouse", str(before)]) == ExitCode.UNUSABLE_WAREHOUSE
    said = capfd.readouterr()
    command = f"groupscope replay --warehouse {before}"
    assert said.out == ""
    assert said.err == (
        f"groupscope: {before}: has table format 2, this release reads 3; the next run brings it up to date and keeps "
        f"all of it: {command}\n"
    )
    assert {path: path.read_bytes() for path in before.rglob("*") if path.is_file()} == files


def test_it_says_how_long_it_takes_before_it_begins(before, tmp_path, capfd):
    warehouse = shutil.copytree(before, tmp_path / "w")
    run("maintain", "--keep", "400d", "--warehouse", warehouse)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith(
        f"groupscope: {warehouse}: has table format 2; writes what has other names in format 3: "
    )
    assert re.search(r": \d+ files, [1-9]\d+ kB, in about 1 s$", lines[0])
    assert lines[1] == f"groupscope: {warehouse}: has the names of contract version 3 now"
    run("maintain", "--keep", "400d", "--warehouse", warehouse)
    assert capfd.readouterr().err == ""


def grown_audit(folder):
    """Of the first cluster, whose log is whole now. It lies in another place than before: a run continues a file where
    the last one left it if the path is the same, and that of a packed warehouse's log is gone."""
    for name in ("__consumer_offsets-2", "__consumer_offsets-4"):
        shutil.copytree(SAMPLE / name, folder / "whole" / "one" / name)
    audit(folder / "w", folder, "one", "--snapshots", SAMPLE / "snapshots.jsonl", log=folder / "whole" / "one")


def test_findings_that_were_known_are_known_and_waived_ones_are_waived(tmp_path):
    warehouse = unpacked("clusters", tmp_path)
    known = {(row["kind"], row["subject"], row["at_time"]): row for row in rows_of(warehouse, "findings")}
    grown_audit(tmp_path)
    newest = max(row["run_id"] for row in rows_of(warehouse, "findings"))
    found = [row for row in rows_of(warehouse, "findings") if row["run_id"] == newest]
    again = [(row, known.get((row["kind"], row["subject"], row["at_time"]))) for row in found]
    assert {row["kind"] for row, before in again if before} >= {"rebalance_storm", "partitions_never_read"}
    for row, before in again:
        assert row["is_new"] is (before is None)
        assert row["first_seen_time"] == (before or row)["first_seen_time"]
        assert before is None or row["waived_until_time"] == before["waived_until_time"]


@pytest.mark.soak
def test_the_next_audit_leaves_what_it_leaves_in_a_warehouse_of_this_release(tmp_path):
    old, fresh = tmp_path / "old", tmp_path / "fresh"
    fresh.mkdir()
    two_clusters(fresh)
    unpacked("clusters", old)
    for folder in (old, fresh):
        grown_audit(folder)
    check_same_as_fresh(old / "w", fresh / "w")


def test_what_was_dropped_stays_dropped_and_a_killed_run_of_the_release_before_is_completed(tmp_path):
    """The last `maintain` of version 2 was killed in the middle of its commits."""
    warehouse = unpacked("kept", tmp_path)
    (manifest,) = (json.loads(path.read_text()) for path in (warehouse / "_runs").glob("*.manifest.json"))
    expected = {}
    for name, change in manifest["changes"].items():
        actions = pa.table(DeltaTable(warehouse / name).get_add_actions()).to_pylist()
        numbers = {row["path"]: row["num_records"] for row in actions}
        removed = [file["name"] for file in change["removed"]]
        expected[name] = sum(numbers.values())
        if numbers.keys() >= {*removed}:
            expected[name] += sum(file["num_rows"] for file in change["added"]) - sum(map(numbers.get, removed))
    run("replay", "--warehouse", warehouse)
    assert {name: len(rows_of(warehouse, name)) for name in expected} == expected
    (dropped,) = {row["as_of_time"] for row in rows_of(warehouse, "runs") if row["run_id"] == manifest["run_id"]}
    ends = [row["to_time"] for row in rows_of(warehouse, "offset_history") if row["ended_by"] == "commit"]
    assert ends and min(ends) >= dropped > min(row["record_time"] for row in rows_of(warehouse, "offset_commits"))
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status == "broken"] == []


@pytest.mark.soak
def test_days_later_it_is_as_if_this_release_had_maintained_it(tmp_path):
    old, fresh = tmp_path / "old", tmp_path / "fresh"
    fresh.mkdir()
    kept_year(fresh)
    unpacked("kept", old)
    for folder in (fresh, old):
        later_day(folder)
    check_same_as_fresh(old / "w", fresh / "w")


# Killed, and otherwise disturbed.


@pytest.fixture(scope="module")
def runs():
    with forked_runs(WITHOUT_SPARK) as started:
        yield started


def tables_committed(brought):
    return [f"table_committed:{name.rpartition('/')[2]}" for name in sorted(tables_in(brought) - {"runs"})]


def check_brought(warehouse, brought):
    """Its rows are those of a run that nothing disturbed."""
    assert tables_in(warehouse) == tables_in(brought)
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status != "ok"] == []
    for name in tables_in(brought) - {"runs"}:
        assert texts(rows_of(warehouse, name)) == texts(rows_of(brought, name)), name
    known = [[(row["cluster"], row["job"]) for row in rows_of(each, "runs")] for each in (warehouse, brought)]
    # A run whose own work was stopped is completed beside the next one.
    assert set(known[0]) == set(known[1])
    assert [sum(job == "upgrade" for _, job in each) for each in known] == [2, 2]


@pytest.mark.drawn(5)
@pytest.mark.parametrize(
    "point", [*FAILPOINTS, *STEPS, *(f"table_committed:{each}" for each in ("runs", *TABLES) if each != "runs")]
)
def test_a_run_that_is_killed_at_any_step_goes_on_at_the_next_start(before, brought, runs, tmp_path, point):
    name = point.partition(":")[2]
    if (name and f"table_committed:{name}" not in tables_committed(brought)) or name in ("gate_spans", "marks"):
        pytest.skip("the warehouse has no such table, or no run commits to it")
    warehouse = shutil.copytree(before, tmp_path / "w")
    words = ["replay", "--cluster", "one", "--warehouse", warehouse]
    assert runs.run(words, {VARIABLE: point}) == -signal.SIGKILL
    if point != "marker_written":
        assert cli.main(["groups", "--cluster", "one", "--warehouse", str(warehouse)]) == ExitCode.UNUSABLE_WAREHOUSE
    run(*words)
    check_brought(warehouse, brought)


def test_a_full_disk_changes_nothing_and_with_room_it_goes_on(before, brought, tmp_path, seed, capfd):
    point = random.Random(seed).choice([*FAILPOINTS[:4], *STEPS[:2]])
    with mounted(tmp_path / "disk", str(16 << 20)) as disk:
        warehouse = shutil.copytree(before, disk / "w")
        words = ["replay", "--cluster", "one", "--warehouse", str(warehouse)]
        with at(point, lambda: fill(disk / "filler", shutil.disk_usage(disk).free)):
            assert cli.main(words) == ExitCode.UNUSABLE_WAREHOUSE, point
        assert "No space left on device" in capfd.readouterr().err.splitlines()[-1]
        (disk / "filler").unlink()
        run(*words)
        check_brought(warehouse, brought)


def damage_file(warehouse, table):
    """The newest of them, whose rows are of one cluster."""
    path = max(DeltaTable(warehouse / table).file_uris())
    data = bytearray((warehouse / table / path).read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    (warehouse / table / path).write_bytes(data)


def damage_log(warehouse, table):
    *_, newest = sorted((warehouse / table / "_delta_log").glob("*.json"))
    newest.write_bytes(newest.read_bytes()[:-20])


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("former", "harm"),
    [
        ("ownership_intervals", damage_file),
        ("assignment_audit", damage_file),
        ("partition_moves", damage_log),
        ("commit_findings", damage_log),
    ],
)
def test_what_is_damaged_and_made_again_stays_damaged_and_is_made_again(before, brought, tmp_path, former, harm):
    warehouse = shutil.copytree(before, tmp_path / "w")
    harm(warehouse, former)
    run("replay", "--cluster", "two", "--warehouse", warehouse, code=None)
    table = {"commit_findings": "odd_commits"}.get(former, former)
    broken = {each.mend: each for each in run_checks(LocalPlace(warehouse)) if each.status == "broken"}
    assert {each.subject.partition("/")[0].partition(".")[0] for each in broken.values()} == {table}
    for mend in min(broken, key=len).split(" && "):
        run(*shlex.split(mend)[1:])
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status != "ok"] == []
    for name in tables_in(brought) - {"runs"}:
        assert texts(rows_of(warehouse, name)) == texts(rows_of(brought, name)), name


@pytest.mark.parametrize("harm", [damage_file, damage_log])
@pytest.mark.parametrize("table", ["findings", "group_verdicts", "rejected_records"])
def test_damage_in_what_is_made_once_is_for_the_release_that_wrote_it(before, tmp_path, table, harm, capfd):
    warehouse = shutil.copytree(before, tmp_path / "w")
    harm(warehouse, table)
    files = {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}
    assert cli.main(["replay", "--cluster", "one", "--warehouse", str(warehouse)]) == ExitCode.UNUSABLE_WAREHOUSE
    assert "repair it by the release that wrote it" in capfd.readouterr().err.splitlines()[-1]
    kept = {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}
    assert {path: data for path, data in kept.items() if "_runs" not in path.parts and path.name != "_lock"} == {
        path: data for path, data in files.items() if "_runs" not in path.parts and path.name != "_lock"
    }


def test_marks_and_spans_are_recorded_before_it_and_while_it_works(before, tmp_path, capfd):
    """A consumer waits for no run."""
    warehouse = shutil.copytree(before, tmp_path / "w")
    of_one = ["--cluster", "one", "--warehouse", warehouse]
    validated(tmp_path, is_passed=True)

    def record(number):
        run("mark", f"mark {number}", *of_one)
        run("gate", "--group", GROUP, "--span", f"orders:7:{number}:99", "--result", tmp_path / "result.json", *of_one)

    record(1)
    with at("table_committed", lambda: record(2)):
        run("replay", *of_one)
    record(3)
    assert {row["text"] for row in rows_of(warehouse, "marks")} > {"mark 1", "mark 2", "mark 3"}
    assert {row["from_offset"] for row in rows_of(warehouse, "gate_spans") if row["partition"] == 7} == {1, 2, 3}
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status != "ok"] == []


def test_of_two_runs_one_does_it_and_the_other_waits(before, brought, tmp_path, capfd):
    warehouse = shutil.copytree(before, tmp_path / "w")
    words = ["lag", "--cluster", "one", "--warehouse", str(warehouse)]
    codes = []

    def other():
        codes.append(cli.main([*words, "--lock-wait", "0"]))

    with at("files_written", other):
        run("replay", *words[1:])
    assert codes == [ExitCode.UNUSABLE_WAREHOUSE]
    assert "busy with replay" in capfd.readouterr().err
    check_brought(warehouse, brought)


def test_elsewhere_it_is_the_same(before, brought, elsewhere, tmp_path):
    place = copied_to(shutil.copytree(before, tmp_path / "put", ignore=shutil.ignore_patterns("_lock")), elsewhere)
    run("replay", "--cluster", "one", "--warehouse", place)
    check_brought(fetched(storage_at(place, options_of(Settings())), "", tmp_path / "w"), brought)


@pytest.mark.spark
@pytest.mark.soak
def test_by_spark_it_is_the_same(before, brought, tmp_path):
    warehouse = shutil.copytree(before, tmp_path / "w")
    run("replay", "--engine", "spark", "--cluster", "one", "--warehouse", warehouse)
    check_brought(warehouse, brought)
