"""The gate as users run it, on hand-made warehouses."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from jobs import cli
from tests.make.tables import BY_HAND, NOW, Rows, make, write_run
from tests.runs.ingested import ROOT, rows, versions
from tests.runs.progress_lines import beside_progress

GATED = ("gate_metrics", "gate_runs", "gate_results", "findings")
LATE = "[gate]\nmax_source_age_hours = 0\n"
QUIET: dict[str, Rows] = {
    "history_coverage": [{"last_offset": 9, "num_records": 10, "from_time": NOW, "to_time": NOW}],
    "topic_snapshots": [{"captured_time": NOW}],
}
STOPPED: dict[str, Rows] = {
    "group_verdicts": [{"own_verdict": "STOP", "partition": 1, "as_of_time": NOW, "group_id": "billing"}]
}
BACKWARDS = {"captured_time": NOW, "partition": 1, "log_start_offset": 5, "log_end_offset": 3}


Gate = Callable[..., subprocess.CompletedProcess[str]]


def words(folder: Path, *flags: str) -> list[str]:
    config = folder / "groupscope.toml"
    if not config.exists():
        config.write_text(LATE)
    return ["gate", "--warehouse", str(folder / "w"), *flags, "--config", str(config)]


@pytest.fixture
def gate(capfd: pytest.CaptureFixture[str]) -> Gate:
    """In this process, which has loaded what the gate needs."""

    def run(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
        arguments = words(folder, *flags)
        capfd.readouterr()
        code = cli.main(arguments)
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    return run


def spawned_gate(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.cli", *words(folder, *flags)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def held(folder: Path) -> dict[str, int]:
    return {name: len(rows(folder / "w", name)) for name in GATED}


@pytest.mark.drawn_together(8)
def test_a_quiet_log_passes_and_a_second_run_writes_nothing_anew(gate: Gate, tmp_path: Path) -> None:
    make(tmp_path / "w", QUIET, run_id=BY_HAND)
    done = spawned_gate(tmp_path, "--fail-on", "warning")
    assert (done.returncode, beside_progress(done.stderr)) == (0, [])
    assert "Findings      no findings;" in done.stdout
    before = held(tmp_path)
    assert before["gate_metrics"] and before["gate_results"] and not before["findings"]
    assert {row["verdict"] for row in rows(tmp_path / "w", "gate_runs")} == {"passed"}
    again = gate(tmp_path)
    assert "Nothing has changed" in again.stdout
    assert held(tmp_path) == before
    newest = max(rows(tmp_path / "w", "runs"), key=lambda row: str(row["run_id"]))
    assert newest["job"] == "gate"
    assert (newest["as_of_time"], newest["verdict"]) == (NOW, "clean")


@pytest.mark.drawn_together(8)
def test_a_critical_finding_ends_with_20_unless_it_is_waived_or_nothing_fails(gate: Gate, tmp_path: Path) -> None:
    make(tmp_path / "w", {**QUIET, **STOPPED}, run_id=BY_HAND)
    done = gate(tmp_path, "--format", "json")
    (finding,) = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, finding["kind"], finding["group_id"]) == (20, "partition_stopped", "billing")
    never = gate(tmp_path, "--fail-on", "never")
    assert never.returncode == 0
    assert "Exit code     0, because of --fail-on never; with --fail-on critical it is 20\n" in never.stdout
    assert gate(tmp_path, "--exclude-group", "bill").returncode == 0
    waiver = 'kind = "partition_stopped"\nreason = "planned"\nwho = "ada"\n'
    (tmp_path / "waivers.toml").write_text(f"[[waivers]]\n{waiver}until = 2999-01-01\n")
    waived = gate(tmp_path)
    assert (waived.returncode, "waived until 2999-01-01" in waived.stdout) == (0, True)
    (tmp_path / "waivers.toml").write_text(f"[[waivers]]\n{waiver}until = 2020-01-01\n")
    assert gate(tmp_path).returncode == 20


def storm_rows(cluster: str = "a", number: int = 12) -> dict[str, Rows]:
    start = [NOW - timedelta(minutes=number - place) for place in range(number)]
    about = {"cluster": cluster, "group_id": "g", "group_type": "classic"}
    return {"rebalances": [
        {**about, "assignment_offset": place, "start_time": time, "end_time": time, "trigger": "leader_rejoined"}
        for place, time in enumerate(start)
    ]}  # fmt: skip


def storms(folder: Path, cluster: str, capfd: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """Groups by the newest findings, and by the view."""
    newest = max((row["run_id"] for row in rows(folder / "w", "gate_runs") if row["cluster"] == cluster), default="")
    found = [row["group_id"] for row in rows(folder / "w", "findings")
             if row["kind"] == "rebalance_storm" and row["run_id"] == newest]  # fmt: skip
    statement = f"SELECT group_id FROM v_rebalance_storms WHERE cluster = '{cluster}' AND kind = 'storm'"
    capfd.readouterr()
    assert cli.main(["sql", statement, "--warehouse", str(folder / "w"), "--format", "json"]) == 0
    return found, [json.loads(line)["group_id"] for line in capfd.readouterr().out.splitlines()]


@pytest.mark.drawn_together(8)
def test_views_and_findings_have_the_same_limits(gate: Gate, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Those of the newest run of the gate, in that run too; each cluster has its own."""
    both: dict[str, Rows] = {name: [*QUIET[name], *({**row, "cluster": "b"} for row in QUIET[name])] for name in QUIET}
    both["rebalances"] = [*storm_rows()["rebalances"], *storm_rows("b", 11)["rebalances"]]
    write_run(make(tmp_path / "w", both, run_id=BY_HAND), BY_HAND.format(2), {}, about={"cluster": "b"})
    assert storms(tmp_path, "a", capfd) == ([], [])
    for limit, of_a, of_b in ((None, ["g"], ["g"]), (12, ["g"], []), (13, [], []), (11, ["g"], ["g"])):
        config = LATE if limit is None else f"{LATE}storm_rebalances = {limit}\n"
        (tmp_path / "groupscope.toml").write_text(config)
        for cluster, expected in (("a", of_a), ("b", of_b)):
            gate(tmp_path, "--cluster", cluster)
            assert storms(tmp_path, cluster, capfd) == (expected, expected)
    noted = {(row["cluster"], row["setting"]): row["value"] for row in rows(tmp_path / "w", "gate_limits")}
    assert (noted["a", "storm_rebalances"], noted["b", "storm_rebalances"], noted["a", "storm_gap_s"]) == (11, 11, 300)
    (tmp_path / "groupscope.toml").write_text(f"{LATE}storm_rebalances = 13\n")
    gate(tmp_path, "--cluster", "a")
    assert storms(tmp_path, "b", capfd) == (["g"], ["g"])
    assert storms(tmp_path, "a", capfd) == ([], [])


@pytest.mark.drawn_together(8)
def test_a_run_with_the_same_limits_does_not_note_them_anew(gate: Gate, tmp_path: Path) -> None:
    warehouse = make(tmp_path / "w", QUIET, run_id=BY_HAND)
    gate(tmp_path)
    first = versions(tmp_path / "w")["gate_limits"]
    gate(tmp_path)
    write_run(warehouse, BY_HAND.format(4), STOPPED)
    gate(tmp_path)
    assert versions(tmp_path / "w")["gate_limits"] == first
    (tmp_path / "groupscope.toml").write_text(f"{LATE}dead_group_days = 3\n")
    gate(tmp_path)
    assert versions(tmp_path / "w")["gate_limits"] == first + 1


@pytest.mark.drawn_together(8)
def test_a_hanging_transaction_is_one_finding_so_that_one_waiver_lets_it_pass(gate: Gate, tmp_path: Path) -> None:
    hanging = {"outcome": "open", "first_time": NOW - timedelta(days=1), "groups": ["a"], "producer_id": 7}
    commit = {"is_transactional": True, "producer_id": 7, "record_time": NOW}
    history = {"committed_offset": 5, "num_commits": 1, "delta": None}
    make(
        tmp_path / "w",
        {**QUIET, "transactions": [hanging], "offset_commits": [commit], "offset_history": [history]},
        run_id=BY_HAND,
    )
    assert gate(tmp_path).returncode == 20
    assert [row["kind"] for row in rows(tmp_path / "w", "findings")] == ["hanging_transaction"]
    waiver = 'kind = "hanging_transaction"\nreason = "planned"\nwho = "ada"\nuntil = 2999-01-01\n'
    (tmp_path / "waivers.toml").write_text(f"[[waivers]]\n{waiver}")
    assert gate(tmp_path).returncode == 0


@pytest.mark.drawn_together(8)
def test_a_suite_that_cannot_be_evaluated_ends_with_20(gate: Gate, tmp_path: Path) -> None:
    """Commits in the log, and no history of offsets."""
    make(tmp_path / "w", {**QUIET, "offset_commits": [{"is_transactional": False, "record_time": NOW}]}, run_id=BY_HAND)
    done = gate(tmp_path)
    assert done.returncode == 20
    assert "suite_error" in done.stdout and "offset_history has no rows" in done.stdout
    waiver = 'kind = "suite_error"\nreason = "planned"\nwho = "ada"\nuntil = 2999-01-01\n'
    (tmp_path / "waivers.toml").write_text(f"[[waivers]]\n{waiver}")
    assert gate(tmp_path).returncode == 20


@pytest.mark.drawn_together(8)
def test_a_failing_expectation_is_a_finding_whose_statement_lists_the_rows(
    gate: Gate, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "w", {**QUIET, "topic_snapshots": [BACKWARDS, {"captured_time": NOW}]}, run_id=BY_HAND)
    gate(tmp_path)
    (result,) = (row for row in rows(tmp_path / "w", "gate_results") if row["success"] is False)
    assert (result["column_name"], result["severity"]) == ("rows_failing_end_before_start", "warning")
    results = {row["kind"]: row["query"] for row in rows(tmp_path / "w", "findings")}
    assert results["expectation_failed"] == result["query"]
    capfd.readouterr()
    assert cli.main(["sql", "--warehouse", str(tmp_path / "w"), "--format", "json", str(result["query"])]) == 0
    listed = capfd.readouterr().out
    assert [json.loads(line)["log_start_offset"] for line in listed.splitlines()] == [5]


TWICE: dict[str, Rows] = {
    "history_coverage": [
        {"last_offset": 9, "num_records": 10, "damaged_records": 2, "from_time": NOW, "to_time": NOW},
        {"first_offset": 12, "last_offset": 20, "num_records": 9, "from_time": NOW, "to_time": NOW},
    ],
    "topic_snapshots": [{"captured_time": NOW}],
    "rejected_records": [
        {"reason": "underrun", "offsets_partition": 0, "record_offset": 3},
        {"reason": "bad_crc", "offsets_partition": 0, "byte_position": 5, "num_records": 2},
    ],
    "replay_anomalies": [{"severity": "critical", "record_time": NOW}],
    "lag_points": [{"topic": "t", "committed_offset": 3, "log_start_offset": 5, "log_end_offset": 9, "lag_raw": 6,
                    "lag": 6, "lag_available": 4, "lost_messages": 2, "snapshot_time": NOW}],
    "assignment_audit": [{"verdict": "drift", "num_different": 2, "record_time": NOW}],
}  # fmt: skip
SAID_BY_KINDS = {
    ("history_coverage", "num_holes"),
    ("history_coverage", "damaged_records"),
    ("rejected_records", "rows_failing_malformed"),
    ("replay_anomalies", "num_critical"),
    ("lag_points", "rows_failing_lost_messages"),
    ("assignment_audit", "num_drift"),
}


@pytest.mark.drawn_together(8)
def test_what_a_finding_says_no_expectation_says_again(gate: Gate, tmp_path: Path) -> None:
    make(tmp_path / "w", TWICE, run_id=BY_HAND)
    gate(tmp_path)
    failed = {
        (str(row["suite"]), str(row["column_name"]))
        for row in rows(tmp_path / "w", "gate_results")
        if row["success"] is False
    }
    assert failed >= SAID_BY_KINDS
    result = rows(tmp_path / "w", "findings")
    assert {str(row["kind"]) for row in result} >= {
        *("history_hole", "damaged_records", "rejected_records", "replay_anomaly", "messages_lost", "assignment_drift")
    }
    said = " ".join(str(row["message"]) for row in result if row["kind"] == "expectation_failed")
    assert [metric for _, metric in SAID_BY_KINDS if metric in said] == []


@pytest.mark.drawn_together(8)
def test_a_suite_that_calls_it_worse_is_a_finding_beside_it(gate: Gate, tmp_path: Path) -> None:
    make(tmp_path / "w", {**QUIET, "history_coverage": TWICE["history_coverage"]}, run_id=BY_HAND)
    expectation = {
        "type": "expect_column_values_to_be_between",
        "kwargs": {"column": "num_holes", "max_value": 0},
        "severity": "critical",
        "meta": {"findings": ["history_hole"]},
    }
    (tmp_path / "expectations").mkdir()
    suite = {"meta": {"table": "history_coverage"}, "expectations": [expectation]}
    (tmp_path / "expectations" / "mine.json").write_text(json.dumps(suite))
    gate(tmp_path)
    result = [(row["kind"], row["severity"]) for row in rows(tmp_path / "w", "findings")]
    assert {("history_hole", "warning"), ("expectation_failed", "critical")} <= set(result)
    wrong = {**expectation, "meta": {"findings": ["history_holes"]}}
    (tmp_path / "expectations" / "mine.json").write_text(json.dumps({**suite, "expectations": [wrong]}))
    done = gate(tmp_path)
    assert (done.returncode, "the nearest is history_hole" in done.stderr) == (2, True)


def negative(**about: object) -> dict[str, Rows]:
    """A commit of offset -7, and the finding about it."""
    place = {"group_id": "g", "topic": "t", "partition": 1, **about}
    return {
        "offset_commits": [{**place, "committed_offset": -7, "record_time": NOW}],
        "odd_commits": [{**place, "kind": "negative", "first_time": NOW, "last_time": NOW, "num_commits": 1}],
    }


@pytest.mark.parametrize(
    "other", [{"group_id": "h"}, {"topic": "u"}, {"partition": 2}], ids=["another group", "topic", "partition"]
)
def test_a_failed_expectation_is_a_finding_only_if_some_of_its_rows_have_none(
    gate: Gate, tmp_path: Path, other: dict[str, object]
) -> None:
    one, more = negative(), negative(**other)
    warehouse = make(tmp_path / "w", {**QUIET, **one}, run_id=BY_HAND)

    def is_failed() -> bool:
        gate(tmp_path)
        newest = max(row["run_id"] for row in rows(tmp_path / "w", "gate_runs"))
        found = [row for row in rows(tmp_path / "w", "findings") if row["run_id"] == newest]
        return "offset_commits: rows_failing_negative_offset" in {row["subject"] for row in found}

    assert not is_failed()
    write_run(warehouse, "00000003-by-hand", {"offset_commits": more["offset_commits"]})
    assert is_failed()
    write_run(warehouse, "00000005-by-hand", {"odd_commits": more["odd_commits"]})
    assert not is_failed()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("expectations/x.json", '{"expectations": 1}', "x.json: meta.table"),
        ("metrics/x.sql", "nothing", "x.sql: no line begins with SELECT"),
        ("waivers.toml", "x = 1", "waivers.toml: x: no such section"),
        ("groupscope.toml", "[gate]\nmax_unread = 1", "max_unread: no such setting, the nearest is max_unread_ms"),
    ],
)
def test_wrong_rules_end_with_2_before_anything_is_written(
    gate: Gate, tmp_path: Path, file: str, text: str, message: str
) -> None:
    make(tmp_path / "w", QUIET, run_id=BY_HAND)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    done = gate(tmp_path)
    assert (done.returncode, done.stdout, message in done.stderr, done.stderr.count("\n")) == (2, "", True, 1)
    assert len(rows(tmp_path / "w", "runs")) == 1


@pytest.mark.drawn_together(8)
def test_the_zip_brings_the_rules_along(tmp_path: Path) -> None:
    names = [path for folder in ("metrics", "findings", "views") for path in (ROOT / "schemas" / folder).glob("*.sql")]
    archive = tmp_path / "groupscope.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        declared = (path for path in (ROOT / "schemas").rglob("*.*") if "__pycache__" not in path.parts)
        for path in [*(ROOT / "jobs").rglob("*.py"), *declared, *(ROOT / "udfs").rglob("*.py")]:
            opened.write(path, path.relative_to(ROOT))
    program = "from pathlib import Path; from jobs.gating.run import rules; r = rules(Path('no/x.toml')); "
    program += "from jobs.gating.declarations.finding_files import finding_files; "
    program += "from schemas.views import VIEWS; assert r.suites; "
    program += "print(len(r.metrics) + len(finding_files()) + len(VIEWS))"
    output = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert int(output) == len(names) > 0
