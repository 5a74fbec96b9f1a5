"""`groupscope maintain --drop-snapshots` takes snapshots out of a warehouse: what the next audit leaves is what a
warehouse has that never had them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.doctor import run_checks
from jobs.sources.same_cluster import SameCluster
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode
from tests.audited_sample import SAMPLE, audited_sample
from tests.builders.logs.by_hand import IDS, commit, target, write_log
from tests.make.log import T0
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, MEASURED, STATES, assert_same, result_of, row_texts
from udfs.groups.group_partition import partition_for

__all__ = ["audited_sample"]

SNAPSHOTS = SAMPLE / "snapshots.jsonl"
COMPARED = (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED, "cluster_snapshots", "topic_snapshots")
T = 1_795_230_000_000


def foreign_snapshots() -> list[dict[str, Any]]:
    """Of another cluster with topics of the same names, captured half a second after each of ours: with other ids, more
    partitions, other ends and other settings."""
    snapshots = [json.loads(line) for line in SNAPSHOTS.read_text().splitlines()]
    for each in snapshots:
        each["captured_at"] += 500
        each["settings"]["offsets.retention.minutes"] = "1"
        each["settings"]["group.consumer.session.timeout.ms"] = "1000"
        for topic in each["topics"]:
            topic["topic_id"] = topic["topic_id"][:-2][::-1] + topic["topic_id"][-2:]
            partitions = topic["partitions"]
            partitions += [{**part, "partition": part["partition"] + len(partitions)} for part in partitions]
            for part in partitions:
                if part["log_end_offset"] is not None:
                    part["log_end_offset"] = 3 * part["log_end_offset"] + 100
    return snapshots


def test_the_next_audit_leaves_what_a_warehouse_has_that_never_had_them(
    audited_sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    warehouse, wrong = tmp_path / "w", tmp_path / "wrong.jsonl"
    written(wrong, *foreign_snapshots())
    words = ["audit", "--source", f"segments:{SAMPLE}", "--cluster", "sample", "--warehouse", str(warehouse)]
    words += ["--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never", "--report", str(tmp_path / "r")]
    with monkeypatch.context() as patch:
        # By a release that did not look.
        for name in ("check_ids", "check_commits"):
            patch.setattr(SameCluster, name, lambda *_: None)
        assert cli.main([*words, "--snapshots", str(wrong), "--snapshots", str(SNAPSHOTS)]) == ExitCode.CLEAN
    with_both = row_texts(warehouse, ["lag_points", "assignment_audit", "expiry_forecast", "topics"])
    without = row_texts(audited_sample, with_both)
    assert all(set(with_both[name]) != set(without[name]) for name in without)

    # Ours lie between theirs again and again: one interval takes out all.
    (found,) = [each for each in run_checks(LocalPlace(warehouse)) if each.status != "ok"]
    assert (found.check, "21 snapshots of another Kafka cluster" in found.message) == ("snapshots", True)
    capfd.readouterr()
    command = str(found.mend).partition("; ")[0]
    assert cli.main(shlex.split(command)[1:]) == ExitCode.CLEAN
    said = capfd.readouterr().out
    assert "dropped 41 snapshots of cluster sample, captured from 2026-11-21T17:36:27.879Z to " in " ".join(
        said.split()
    )
    assert "it has 1 snapshot, captured from 2026-11-21T17:36:27.379Z to " in " ".join(said.split())
    assert rows(warehouse, "group_verdicts") == []
    assert cli.main([*words, "--snapshots", str(SNAPSHOTS)]) == ExitCode.CLEAN
    assert_same(row_texts(audited_sample, COMPARED), row_texts(warehouse, COMPARED), "after the drop")
    capfd.readouterr()
    assert cli.main([*words, "--snapshots", str(wrong)]) == ExitCode.UNREADABLE_INPUT
    assert "and those are of the log there" in capfd.readouterr().err


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Snapshots of three seconds, of each of two clusters."""
    for name in ("one", "two"):
        lines = [{"captured_at": T + 1_000 * each, "topics": [{"topic": name, "partitions": [
            {"partition": 0, "log_end_offset": each}]}]} for each in range(3)]  # fmt: skip
        ingest(tmp_path / "w", "--snapshots", written(tmp_path / name, *lines), "--cluster", name)
    return tmp_path / "w"


def drop(warehouse: Path, interval: str, *flags: str) -> int:
    return cli.main(["maintain", "--warehouse", str(warehouse), f"--drop-snapshots={interval}", *flags])


def seconds_left(warehouse: Path) -> dict[str, list[int]]:
    left: dict[str, set[int]] = {"one": set(), "two": set()}
    for table in ("cluster_snapshots", "topic_snapshots"):
        for row in rows(warehouse, table):
            left[row["cluster"]].add(round(row["captured_time"].timestamp()) - T // 1_000)
    return {cluster: sorted(seconds) for cluster, seconds in left.items()}


AT = [f"2026-11-21T03:00:0{each}Z" for each in range(4)]


@pytest.mark.parametrize(
    ("interval", "left"),
    [("..", []), (f"..{AT[2]}", [2]), (f"{AT[1]}..", [0]), (f"{T + 1_000}..{T + 1_001}", [0, 2]),
     (f"{T + 1}..{T + 1_000}", [0, 1, 2])],
)  # fmt: skip
def test_an_interval_is_half_open_and_about_one_cluster(
    three: Path, interval: str, left: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in three.rglob("*") if path.suffix == ".parquet")
    assert drop(three, interval, "--cluster", "one", "--dry-run", "--format", "json") == ExitCode.CLEAN
    would = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {row["table"]: row["num_rows_dropped"] for row in would} == (
        dict.fromkeys(("cluster_snapshots", "topic_snapshots"), 3 - len(left)) if len(left) < 3 else {}
    )
    assert sorted(path for path in three.rglob("*") if path.suffix == ".parquet") == before
    assert drop(three, interval, "--cluster", "one", "--format", "json") == ExitCode.CLEAN
    result = json.loads(capfd.readouterr().out)
    assert (result["num_snapshots_dropped"], result["num_rows_dropped"]) == (3 - len(left), 2 * (3 - len(left)))
    assert seconds_left(three) == {"one": left, "two": [0, 1, 2]}
    # The file can be read again.
    assert ingest(three, "--snapshots", three.parent / "one", "--cluster", "one")["rows_added"] == (
        dict.fromkeys(("cluster_snapshots", "topic_snapshots"), 3 - len(left))
    )


def test_an_interval_without_a_snapshot_says_what_there_is(three: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert drop(three, f"{AT[3]}..", "--cluster", "two") == ExitCode.CLEAN
    said = " ".join(capfd.readouterr().out.split())
    assert "no snapshot of cluster two was captured in 2026-11-21T03:00:03.000Z..; it has 3 snapshots" in said
    assert "captured from 2026-11-21T03:00:00.000Z to 2026-11-21T03:00:02.000Z; nothing was changed" in said


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (("--drop-snapshots", ".."), "holds several clusters"),
        (("--drop-snapshots", "..", "--cluster", "three"), "has no cluster three; it has one, two"),
    ],
)
def test_a_wrong_interval_or_cluster_is_refused_and_changes_nothing(
    three: Path, flags: tuple[str, ...], line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["maintain", "--warehouse", str(three), *flags]) == ExitCode.USAGE
    assert line in capfd.readouterr().err
    assert seconds_left(three) == {"one": [0, 1, 2], "two": [0, 1, 2]}


JOBS = ("replay", "assignments", "lag")


def test_names_and_settled_lag_that_rested_on_a_snapshot_go_with_it(tmp_path: Path) -> None:
    """Records of the modern group have the ids of topics alone, which the snapshot in the middle names. Lag at its time
    is settled: later runs do not look at it again."""
    commits = [commit("billing", "orders", 0, each, offset=each) for each in range(1, 300, 4)]
    log = {
        partition_for("billing", 50): commits,
        partition_for("modern", 50): [target("modern", 5, {"orders": 2, "payments": 3})],
    }
    source = write_log(tmp_path / "log", log)
    others = written(tmp_path / "others.jsonl", *(ends(each, 10 * each) for each in (20, 200, 260, 290)))
    # Without ends, by which a replay sees that snapshots have changed.
    topics = [{"topic": name, "topic_id": IDS[name], "partitions": [{"partition": each} for each in range(number)]}
              for name, number in (("orders", 2), ("payments", 3))]  # fmt: skip
    one = written(tmp_path / "one.jsonl", {"captured_at": T0 + 100_000, "topics": topics})
    for name, snapshots in (("never", [others]), ("had", [others, one])):
        assert (
            ingest(
                tmp_path / name, "--source", source, *(word for each in snapshots for word in ("--snapshots", each))
            )["exit_code"]
            == 0
        )
        for job in JOBS:
            result_of(job, tmp_path / name)
    tables = (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED)
    never, had = (row_texts(tmp_path / name, tables) for name in ("never", "had"))
    assert all(never[name] != had[name] for name in ("ownership_intervals", "topics", "lag_points"))
    # Of a time that lag has settled.
    settled = [row["settled_time"] for row in rows(tmp_path / "had", "measured_partitions")]
    assert any(each and each.timestamp() * 1_000 > T0 + 100_000 for each in settled)

    assert drop(tmp_path / "had", f"{T0 + 100_000}..{T0 + 100_001}") == ExitCode.CLEAN
    result_of("lag", tmp_path / "had")
    times = {row["snapshot_time"].timestamp() for row in rows(tmp_path / "had", "lag_points")}
    assert T0 / 1_000 + 100 not in times and len(times) == 4
    for job in JOBS:
        result_of(job, tmp_path / "had")
    assert_same(never, row_texts(tmp_path / "had", tables), "after the drop")


def ends(seconds: int, end: int) -> dict[str, Any]:
    """Without ids."""
    partitions = [{"partition": each, "log_end_offset": end} for each in range(2)]
    return {"captured_at": T0 + 1_000 * seconds, "topics": [{"topic": "orders", "partitions": partitions}]}


def written(path: Path, *snapshots: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in snapshots))
    return path
