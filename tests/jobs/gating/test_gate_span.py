"""`groupscope gate --span` records spans of data, beside anything else that goes on in the warehouse."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.command_line.flags import add_arguments
from jobs.configuration.settings import Settings, options_of
from jobs.doctor import run_checks
from jobs.gate import with_defaults
from jobs.recording import commits
from jobs.recording.record_span import WITHOUT_EFFECT
from jobs.storage.kernel_lock import KernelLock
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.stored_files import read_whole
from jobs.warehouses.any_warehouse import reading
from schemas.words.exit_codes import ExitCode
from tests.builders.gate import validations
from tests.builders.storages.kinds import copied_to, elsewhere
from tests.make.tables import make, write_run

__all__ = ["elsewhere"]

pytestmark = pytest.mark.about("record_span", "spans_table", "commits", "validation_results")
ROOT = Path(__file__).parents[3]
LATER = "2999-01-01T00:00Z"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("results")
    made = validations.results()
    for name in ("passed", "failed"):
        (folder / name).write_text(json.dumps(made[name]))
    return {name: str(folder / name) for name in ("passed", "failed")}


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    make(tmp_path / "w", {"offset_history": [{}]})
    # As an audit leaves it that knows nothing of spans.
    for file in (tmp_path / "w" / "gate_spans").rglob("*"):
        if file.is_file():
            file.unlink()
    return str(tmp_path / "w")


def gate(warehouse: str, *flags: str) -> int:
    return cli.main(["gate", "--warehouse", warehouse, "--format", "json", *flags])


def spans(warehouse: str) -> list[dict[str, Any]]:
    rows = reading(warehouse).rows("gate_spans")
    assert rows is not None
    result: list[dict[str, Any]] = rows.sort_by([("from_offset", "ascending"), ("verdict", "ascending")]).to_pylist()
    return result


def test_what_passed_is_recorded_once(
    warehouse: str, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ("--group", "bill:ing é", "--span", "orders:3:1200:1500:298", "--span", "orders.eu:0:0:1", "--result")
    for is_new in (True, False, False):
        assert gate(warehouse, *command, results["passed"]) == ExitCode.CLEAN
        shown = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert [row["is_new"] for row in shown] == [is_new, is_new]
    # One commit after the one that made the table.
    assert DeltaTable(f"{warehouse}/gate_spans").version() == 1
    first, second = spans(warehouse)
    assert {name: second[name] for name in second if name not in ("recorded_time", "result_hash")} == {
        "cluster": "a",
        "group_id": "bill:ing é",
        "topic": "orders",
        "partition": 3,
        "from_offset": 1200,
        "to_offset": 1500,
        "num_rows_written": 298,
        "suite": "orders",
        "verdict": "passed",
        "override_reason": None,
        "actor": None,
        "until_time": None,
    }
    assert (first["topic"], first["num_rows_written"], first["recorded_time"]) == (
        "orders.eu", None, second["recorded_time"]
    )  # fmt: skip


def test_what_failed_ends_with_20_until_somebody_lets_it_through(
    warehouse: str, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ("--group", "g", "--span", "orders:0:0:9", "--result", results["failed"])
    override = ("--override", "known gap", "--actor", "ops@x", "--until", LATER)
    assert gate(warehouse, *command) == ExitCode.FINDINGS
    assert "failed: expect_column_values_to_not_be_null of amount" in capfd.readouterr().err
    assert gate(warehouse, *command, *override) == ExitCode.CLEAN
    assert gate(warehouse, *command, *override) == ExitCode.CLEAN
    assert gate(warehouse, *command) == ExitCode.FINDINGS
    assert [(row["verdict"], row["override_reason"], row["actor"]) for row in spans(warehouse)] == [
        ("failed", None, None),
        ("overridden", "known gap", "ops@x"),
    ]
    assert spans(warehouse)[1]["until_time"].isoformat() == "2999-01-01T00:00:00+00:00"
    assert gate(warehouse, *command[:-1], results["passed"], *override) == ExitCode.CLEAN
    assert "the override was not needed" in capfd.readouterr().err
    assert [row["actor"] for row in spans(warehouse) if row["verdict"] == "passed"] == [None]


def test_sql_shows_a_span_at_once_and_a_later_run_leaves_it(
    warehouse: str, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    counted = ["sql", "--warehouse", warehouse, "--format", "csv", "SELECT count(*) AS n FROM gate_spans"]
    for number in (1, 2):
        assert gate(warehouse, "--group", "g", "--span", f"t:0:{number}:9", "--result", results["passed"]) == 0
        capfd.readouterr()
        assert cli.main(counted) == 0
        assert capfd.readouterr().out == f"n\n{number}\n"
    write_run(reading(warehouse), "run-0002", {}, absent=frozenset({"gate_spans"}))
    assert len(spans(warehouse)) == 2
    assert [finding for finding in run_checks(LocalPlace(Path(warehouse))) if finding.status != "ok"] == []


def test_a_run_leaves_the_file_that_a_command_is_just_writing(warehouse: str) -> None:
    begun = Path(warehouse, "gate_spans", "part-span-0.parquet.0.begun")
    other = Path(warehouse, "offset_history", "part-span-0.parquet.0.begun")
    for file in (begun, other):
        file.touch()
    write_run(reading(warehouse), "run-0002", {}, absent=frozenset({"gate_spans"}))
    assert begun.exists()
    assert not other.exists()


def test_standard_input_is_a_result(warehouse: str, results: dict[str, str]) -> None:
    command = [sys.executable, "-m", "jobs.cli", "gate", "--warehouse", warehouse, "--group", "g"]
    command += ["--span", "t:0:1:2", "--result", "-"]
    with Path(results["passed"]).open() as text:
        done = subprocess.run(command, stdin=text, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(spans(warehouse)) == 1


def test_it_does_not_wait_for_a_run(warehouse: str, results: dict[str, str]) -> None:
    with KernelLock(Path(warehouse), "audit").hold(0, print):
        command = ("--group", "g", "--span", "t:0:1:2", "--result", results["passed"])
        assert gate(warehouse, *command) == ExitCode.CLEAN
    assert len(spans(warehouse)) == 1


def at_once(warehouse: str, results: dict[str, str], flags: list[list[str]]) -> list[int]:
    """Exit codes of processes that run side by side."""
    command = [sys.executable, "-m", "jobs.cli", "gate", "--warehouse", warehouse, "--group", "g"]

    def run(each: list[str]) -> int:
        whole = [*command, *each, "--result", results["passed"]]
        return subprocess.run(whole, cwd=ROOT, capture_output=True, check=False, timeout=120).returncode

    with ThreadPoolExecutor(len(flags)) as pool:
        return list(pool.map(run, flags))


def test_several_at_once_lose_nothing_and_repeat_nothing(warehouse: str, results: dict[str, str]) -> None:
    """Three different spans, and each of them twice; the table is new to all."""
    flags = [["--span", f"t:0:{number}:9"] for number in range(3)] * 2
    assert at_once(warehouse, results, flags) == [0] * 6
    assert [row["from_offset"] for row in spans(warehouse)] == [0, 1, 2]


def test_many_commits_leave_few_small_files(
    warehouse: str, results: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "MOST_SMALL_FILES", 4)
    monkeypatch.setattr(commits, "SMALL_ROWS", 6)
    for number in range(14):
        assert gate(warehouse, "--group", "g", "--span", f"t:0:{number}:99", "--result", results["passed"]) == 0
        # Found again in merged files too.
        assert gate(warehouse, "--group", "g", "--span", f"t:0:{number // 2}:99", "--result", results["passed"]) == 0
    assert [row["from_offset"] for row in spans(warehouse)] == list(range(14))
    table = DeltaTable(f"{warehouse}/gate_spans")
    counts = sorted(pa.table(table.get_add_actions()).column("num_records").to_pylist())
    # Merged to 4, then to 7, which is no longer small, then again to 4.
    assert counts == [1, 1, 1, 4, 7]


@pytest.fixture
def stored(elsewhere: str, warehouse: str) -> Iterator[str]:
    yield copied_to(Path(warehouse), f"{elsewhere}/{Path(warehouse).parent.name}")


def test_a_warehouse_elsewhere_takes_spans_side_by_side(stored: str, results: dict[str, str]) -> None:
    assert at_once(stored, results, [["--span", f"t:0:{number}:9"] for number in (1, 2, 1)]) == [0, 0, 0]
    assert gate(stored, "--group", "g", "--span", "t:0:2:9", "--result", results["passed"]) == ExitCode.CLEAN
    assert [row["from_offset"] for row in spans(stored)] == [1, 2]
    log = storage_at(stored, options_of(Settings()))
    # Each version is ours: delta-rs would say its name.
    for version in range(3):
        assert "engineInfo" not in read_whole(log, f"gate_spans/_delta_log/{version:020}.json").decode()


SPAN = ["--group", "g", "--span", "t:0:1:2"]


def test_a_reason_that_no_table_can_store_is_refused(warehouse: str, capfd: pytest.CaptureFixture[str]) -> None:
    reason = ["--override", "\udcff", "--actor", "me", "--until", LATER]
    assert gate(warehouse, *SPAN, "--result", "-", *reason) == ExitCode.USAGE
    assert "a text in UTF-8" in one_line(capfd)


def test_each_flag_has_an_effect_with_a_span_or_is_refused() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser, "gate")
    has_effect = {"span", "result", "group", "override", "actor", "until", "tz"}
    has_effect |= {"warehouse", "cluster", "config", "format"}
    # It never shows progress.
    assert {action.dest for action in parser._actions} == {*has_effect, *WITHOUT_EFFECT, "quiet"}
    assert [name for name in WITHOUT_EFFECT if parser.get_default(name) is not None] == []


def test_without_a_span_the_flags_have_their_defaults() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, "gate")
    flags = with_defaults(parser.parse_args(["--lock-wait", "5"]))
    assert (flags.fail_on, flags.lock_wait, flags.since) == ("critical", 5, None)


def test_a_result_that_cannot_be_read_records_nothing(
    warehouse: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.json").write_text('{"success": true, "resu')
    assert gate(warehouse, *SPAN, "--result", str(tmp_path / "cut.json")) == ExitCode.UNREADABLE_INPUT
    assert "is not JSON" in one_line(capfd)
    assert reading(warehouse).rows("gate_spans") is None


def test_a_table_that_is_damaged_is_a_matter_of_the_warehouse(
    warehouse: str, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    log = Path(warehouse, "gate_spans", "_delta_log", f"{0:020}.json")
    log.parent.mkdir(exist_ok=True)
    log.write_text("no log")
    assert gate(warehouse, *SPAN, "--result", results["passed"]) == ExitCode.UNUSABLE_WAREHOUSE
    line = one_line(capfd)
    assert f"{warehouse}/gate_spans: cannot be read: " in line


def test_a_place_without_a_warehouse_is_no_place_for_spans(
    tmp_path: Path, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert gate(str(tmp_path / "typo"), *SPAN, "--result", results["passed"]) == ExitCode.UNUSABLE_WAREHOUSE
    assert "give the folder of a warehouse, or create one with `groupscope audit`" in one_line(capfd)
    assert not (tmp_path / "typo").exists()


def test_of_several_clusters_one_is_named(
    tmp_path: Path, results: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    place, log = str(tmp_path / "w"), next((ROOT / "data" / "sample").glob("__consumer_offsets-*"))
    for cluster in ("east", "west"):
        assert cli.main(["ingest", "--source", f"segments:{log}", "--warehouse", place, "--cluster", cluster]) == 0
    capfd.readouterr()
    assert gate(place, *SPAN, "--result", results["passed"]) == ExitCode.USAGE
    assert "add --cluster with one of east, west" in one_line(capfd)
    assert gate(place, *SPAN, "--result", results["passed"], "--cluster", "west") == ExitCode.CLEAN
    assert [row["cluster"] for row in spans(place)] == ["west"]


def one_line(capfd: pytest.CaptureFixture[str]) -> str:
    shown = capfd.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    return line
