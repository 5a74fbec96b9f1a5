"""Warehouses that older releases wrote, kept as they left them: of an earlier contract, which every command refuses in
one line; and of this contract with fewer tables, which the next audit completes.

Both read the classic group of `data/sample/__consumer_offsets-2`: `ingest` and `replay` by the release of contract 1,
all jobs by an early release of contract 2.
"""

import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from jobs import cli
from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, rows, versions
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, MEASURED, STATES, assert_same, row_texts

OLDER = Path(__file__).with_name("older_releases")
SAMPLE = ROOT / "data" / "sample"
NEW_TABLES = ["lag_days", "lag_minutes", "offsets_partitions"]
CONFIG = ["--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never"]
COMMANDS = [
    ["groups"], ["rebalances", "g"], ["sql", "SELECT 1"], ["replay"], ["lag"], ["gate"], ["maintain", "--keep", "400d"],
    ["ingest", "--source", f"segments:{SAMPLE}"], ["doctor"],
]  # fmt: skip


def unpacked(name, folder):
    with tarfile.open(OLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder / "w", filter="data")
    return folder / "w"


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_an_earlier_contract_is_refused_in_one_line_and_nothing_changes(tmp_path, words, capfd):
    warehouse = unpacked("contract-1", tmp_path)
    before = {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}
    assert cli.main([*words, "--warehouse", str(warehouse)]) == ExitCode.UNUSABLE_WAREHOUSE
    printed = capfd.readouterr()
    line = (
        f"{warehouse}: was written by an older release (table format 1, this release needs 2). Read __consumer_offsets"
    )
    assert printed.out == ""
    assert printed.err.startswith(f"groupscope: {line} again into a new folder")
    assert printed.err.count("\n") == 1
    assert {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()} == before


def test_what_views_compare_with_is_unknown_until_the_gate_has_run(tmp_path, capfd):
    warehouse = unpacked("contract-2", tmp_path)
    told = [
        json.loads(asked(warehouse, statement, capfd))
        for statement in ("SELECT count(is_dead) AS n FROM v_inventory", "SELECT count(*) AS n FROM v_rebalance_storms")
    ]
    assert told == [{"n": 0}, {"n": 0}]
    assert cli.main(["gate", "--warehouse", str(warehouse), *CONFIG]) == ExitCode.CLEAN
    assert json.loads(asked(warehouse, "SELECT kind, group_id FROM v_rebalance_storms", capfd)) == {
        "kind": "storm",
        "group_id": "classic-storm",
    }


def asked(warehouse, statement, capfd):
    capfd.readouterr()
    assert cli.main(["sql", statement, "--warehouse", str(warehouse), "--format", "json"]) == ExitCode.CLEAN
    return capfd.readouterr().out


def test_readers_read_a_warehouse_with_fewer_tables(tmp_path, capfd):
    warehouse = unpacked("contract-2", tmp_path)
    assert cli.main(["groups", "--warehouse", str(warehouse), "--format", "json"]) == ExitCode.CLEAN
    assert '"classic-storm"' in capfd.readouterr().out
    words = ["sql", "SELECT count(*) AS n FROM offset_history", "--warehouse", str(warehouse), "--format", "json"]
    assert cli.main(words) == ExitCode.CLEAN
    assert json.loads(capfd.readouterr().out)["n"] == len(rows(warehouse, "offset_history"))


def test_doctor_has_one_line_a_table_about_comments_and_names_what_is_missing(tmp_path):
    result = [each for each in run_checks(LocalPlace(unpacked("contract-2", tmp_path))) if each.status != "ok"]
    about = Counter(each.subject for each in result)
    assert max(about.values()) == 1
    mends = {str(each.subject): str(each.mend) for each in result if each.status == "broken"}
    assert sorted(mends) == ["gate_limits", *NEW_TABLES]
    assert mends.pop("gate_limits").startswith("groupscope gate --warehouse")
    assert all(mend.startswith("groupscope lag --full") for mend in mends.values())


def test_the_next_audit_completes_it_and_full_runs_make_it_that_of_this_release(tmp_path, capfd):
    warehouse, fresh = unpacked("contract-2", tmp_path), tmp_path / "fresh"
    for name in NEW_TABLES:
        assert name not in versions(warehouse)
    report = ["--report", str(tmp_path / "report")]
    assert cli.main(["audit", "--warehouse", str(warehouse), *CONFIG, *report, *source()]) == ExitCode.CLEAN
    printed = capfd.readouterr()
    assert "an older release did not write offsets_partitions, lag_days, lag_minutes" in printed.err
    assert "expectation_failed" not in printed.out
    assert [each for each in run_checks(LocalPlace(warehouse)) if each.status == "broken"] == []
    assert cli.main(["audit", "--warehouse", str(fresh), *CONFIG, *report, *source()]) == ExitCode.CLEAN
    capfd.readouterr()
    # Once only.
    assert cli.main(["lag", "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    assert "older release" not in capfd.readouterr().err
    for job in ("replay", "assignments", "lag"):
        assert cli.main([job, "--full", "--warehouse", str(warehouse), *CONFIG[:2]]) == ExitCode.CLEAN
    compared = [name for name in (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED) if name in versions(fresh)]
    assert_same(row_texts(fresh, compared), row_texts(warehouse, compared), "by this release")


def source():
    return ["--source", f"segments:{SAMPLE}/__consumer_offsets-2", "--snapshots", str(SAMPLE / "snapshots.jsonl")]
