"""Snapshots through the ingest: into both tables, once, and never against what is known."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.refused import refused, unchanged

T = 1_795_230_000_000
ID = "AAAAAAAAAAAAAAAAAAAAAQ"
SNAPSHOT: dict[str, Any] = {
    "captured_at": T,
    "topics": [
        {
            "topic": "orders",
            "topic_id": ID,
            "partitions": [
                {"partition": 0, "log_start_offset": 3, "log_end_offset": 9, "leader_epoch": 2, "racks": ["a", None]},
                {"partition": 1, "log_end_offset": 7},
            ],
        }
    ],
    "brokers": [{"id": 1, "host": "kafka-1", "port": 9092, "rack": "a"}, {"id": 2, "host": "kafka-2", "port": 9092}],
    "offsets_partitions": [{"partition": 0, "leader": 1}],
    "settings": {"offsets.retention.minutes": 10_080, "a.b": "c"},
    "groups": [{"group_id": "h", "settings": {}}, {"group_id": "g", "settings": {"share.session.timeout.ms": 60_000}}],
    "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk",
    "offsets_topic_id": "7z1RNuzRT8avpLU2aul7Mw",
}
TEXT = "orders:0:9\norders:1:7\npayments:0:\n"


def written(path: Path, *snapshots: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in snapshots))
    return path


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def ends(warehouse: Path) -> set[tuple[datetime, str, int, int | None]]:
    names = ("captured_time", "topic", "partition", "log_end_offset")
    return {tuple(row[name] for name in names) for row in rows(warehouse, "topic_snapshots")}  # type: ignore[misc]


def test_a_snapshot_becomes_rows_of_both_tables_once(tmp_path: Path) -> None:
    path, w = written(tmp_path / "snapshots.jsonl", SNAPSHOT), tmp_path / "w"
    first = ingest(w, "--snapshots", path, "--cluster", "sample")
    assert first["rows_added"] == {"cluster_snapshots": 1, "topic_snapshots": 2}
    (cluster,) = rows(w, "cluster_snapshots")
    assert cluster == {
        "cluster": "sample",
        "captured_time": at(T),
        "run_id": first["run_id"],
        "brokers": [
            {"id": 1, "host": "kafka-1", "port": 9092, "rack": "a"},
            {"id": 2, "host": "kafka-2", "port": 9092, "rack": None},
        ],
        "offsets_partitions": [{"partition": 0, "leader": 1}],
        "settings": [("a.b", "c"), ("offsets.retention.minutes", "10080")],
        "group_settings": [
            {"group_id": "g", "settings": [("share.session.timeout.ms", "60000")]},
            {"group_id": "h", "settings": []},
        ],
        "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk",
        "offsets_topic_id": "7z1RNuzRT8avpLU2aul7Mw",
    }
    topics = rows(w, "topic_snapshots")
    common = {"cluster": "sample", "captured_time": at(T), "topic": "orders", "topic_id": ID, "run_id": first["run_id"]}
    assert sorted(topics, key=lambda row: row["partition"]) == [
        common | {"partition": 0, "log_start_offset": 3, "log_end_offset": 9, "leader_epoch": 2, "racks": ["a", None]},
        common | {"partition": 1, "log_start_offset": None, "log_end_offset": 7, "leader_epoch": None, "racks": None},
    ]
    again = ingest(w, "--snapshots", path)
    assert sum(again["rows_added"].values()) == 0
    assert rows(w, "topic_snapshots") == topics
    assert rows(w, "cluster_snapshots") == [cluster]

    # A file that a capture has added to brings its last line alone.
    later = SNAPSHOT | {"captured_at": T + 1}
    grown = ingest(w, "--snapshots", written(path, SNAPSHOT, later))
    assert grown["rows_added"] == {"cluster_snapshots": 1, "topic_snapshots": 2}
    assert {row["captured_time"] for row in rows(w, "topic_snapshots")} == {at(T), at(T + 1)}
    assert {finding.status for finding in run_checks(LocalPlace(w))} == {"ok"}


def test_the_same_settings_in_another_order_are_the_same(tmp_path: Path) -> None:
    settings = dict(reversed(SNAPSHOT["settings"].items()))
    other = SNAPSHOT | {"settings": settings, "groups": SNAPSHOT["groups"][::-1], "captured_at": T}
    ingest(tmp_path / "w", "--snapshots", written(tmp_path / "a.jsonl", SNAPSHOT))
    again = ingest(tmp_path / "w", "--snapshots", written(tmp_path / "b.jsonl", other))
    assert sum(again["rows_added"].values()) == 0


def test_a_text_has_the_time_that_is_given_or_that_of_its_file(tmp_path: Path) -> None:
    path, w = tmp_path / "ends.txt", tmp_path / "w"
    path.write_text(TEXT)
    os.utime(path, ns=((T + 5) * 1_000_000, (T + 5) * 1_000_000))
    ingest(w, "--snapshots", path)
    of_file = {(at(T + 5), *each) for each in (("orders", 0, 9), ("orders", 1, 7), ("payments", 0, None))}
    assert ends(w) == of_file
    assert sum(ingest(w, "--snapshots", path)["rows_added"].values()) == 0

    ingest(w, "--snapshots", path, "--captured-at", "2026-11-21T03:00")
    given = {(datetime(2026, 11, 21, 3, tzinfo=UTC), *each[1:]) for each in of_file}
    assert ends(w) == of_file | given
    assert {row["captured_time"] for row in rows(w, "cluster_snapshots")} == {each[0] for each in of_file | given}
    assert sum(ingest(w, "--snapshots", path, "--captured-at", "2026-11-21T04:00+01:00")["rows_added"].values()) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": [SNAPSHOT["topics"][0] | {"topic_id": ID[:-1] + "g"}]}, "topic_id AAAAAAAAAAAAAAAAAAAAAg"),
        ({"brokers": [{"id": 1, "host": "kafka-9", "port": 9092}]}, "brokers "),
        ({"settings": {"offsets.retention.minutes": 5}}, "settings "),
        ({"groups": [{"group_id": "g", "settings": {}}]}, "group_settings "),
    ],
)
def test_a_snapshot_of_another_cluster_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], message: str
) -> None:
    w = tmp_path / "w"
    ingest(w, "--snapshots", written(tmp_path / "mine.jsonl", SNAPSHOT))
    theirs = written(tmp_path / "theirs.jsonl", SNAPSHOT | changes)
    with unchanged(w):
        before = rows(w, "topic_snapshots")
        line = refused(w, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", theirs)
        assert rows(w, "topic_snapshots") == before
    assert line.startswith(f"{theirs}: {message}")
    assert "2026-11-21 03:00:00+00:00, but the warehouse has " in line
    assert line.endswith("give this Kafka cluster another name: --cluster NAME")
    assert ingest(w, "--snapshots", theirs, "--cluster", "theirs")["rows_added"]["topic_snapshots"] > 0


def test_a_text_of_the_same_instant_contradicts_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    w = tmp_path / "w"
    ingest(w, "--snapshots", written(tmp_path / "mine.jsonl", SNAPSHOT))
    (tmp_path / "ends.txt").write_text("orders:0:9\norders:1:8\n")
    arguments = ("--snapshots", tmp_path / "ends.txt", "--captured-at", str(T))
    line = refused(w, capsys, ExitCode.UNREADABLE_INPUT, *arguments)
    assert line.startswith(f"{tmp_path / 'ends.txt'}: log_end_offset 8 of topic orders, partition 1 at ")
    # What it does not have contradicts nothing.
    (tmp_path / "ends.txt").write_text("orders:0:9\norders:1:7\n")
    assert sum(ingest(w, *arguments)["rows_added"].values()) == 0


def test_the_sample_s_snapshots_are_those_of_its_file(tmp_path: Path) -> None:
    path = ROOT / "data" / "sample" / "snapshots.jsonl"
    ingest(tmp_path / "w", "--snapshots", path)
    expected = {
        (at(reported["captured_at"]), topic["topic"], partition["partition"], partition["log_end_offset"])
        for reported in map(json.loads, path.read_text().splitlines())
        for topic in reported["topics"]
        for partition in topic["partitions"]
    }
    assert ends(tmp_path / "w") == expected
    assert len(rows(tmp_path / "w", "topic_snapshots")) == len(expected) > 100


def warned(warehouse: Path, capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[str]:
    ingest(warehouse, *words)
    return capsys.readouterr().err.splitlines()


def test_a_snapshot_that_is_later_than_the_clock_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: T * 1_000_000)
    minutes = [{**SNAPSHOT, "captured_at": T + minute * 60_000} for minute in (-1, 5, 6, 7)]
    w, near, late = (tmp_path / name for name in ("w", "near.jsonl", "late.jsonl"))
    written(near, *minutes[:2]), written(late, *minutes)
    assert warned(w, capsys, "--snapshots", near) == []
    line = (
        f"groupscope: {late}: a snapshot is of 2026-11-21T03:07:00.000Z, but this machine's clock says "
        "2026-11-21T03:00:00.000Z: is one of the two wrong? Without --as-of, copies of a log are judged as of the "
        "later time"
    )
    assert warned(w, capsys, "--snapshots", late) == [line]
    assert len(rows(w, "cluster_snapshots")) == 4
    assert warned(w, capsys, "--snapshots", late) == []


def test_a_given_time_may_lie_in_the_future_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "offsets.txt").write_text(TEXT)
    words = ("--snapshots", tmp_path / "offsets.txt", "--captured-at", "9999-12-31T23:59:59Z")
    (line,) = warned(tmp_path / "w", capsys, *words)
    assert "offsets.txt: a snapshot is of 9999-12-31T23:59:59.000Z, but this machine's clock says 2" in line
