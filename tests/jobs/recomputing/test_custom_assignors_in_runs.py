"""Whose class bears Kafka's name, through a warehouse: later targets judge the rows of earlier runs anew."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jobs.recomputing import task
from jobs.replaying.task import plan
from tests.builders.generated.topics import KeyValue, written
from tests.builders.logs.by_hand import IDS, Event, write_log
from tests.builders.warehouses.replayed_segments import LATER_MS, snapshot
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, assert_same, recompute, row_texts
from udfs.assignors.questions import Topic
from udfs.topics.metadata_hash import group_hash

HASH = group_hash([Topic("orders", 6, IDS["orders"])])
KEPT = {"a": [0, 1, 2], "b": [3, 4, 5]}
SWAPPED = {"a": [3, 4, 5], "b": [0, 1, 2]}
DRIFT = ("drift", "6 partitions have other owners than uniform gives")
CUSTOM = ("not_recomputable", "custom_assignor")
SAME = ("same", None)


def about(group: str, member: str, rack: str | None = None) -> KeyValue:
    value = {"instance_id": None, "rack_id": rack, "client_id": "c", "client_host": "/h",
             "rebalance_timeout_ms": 300_000, "subscribed_topic_names": ["orders"], "subscribed_topic_regex": None,
             "server_assignor": None}  # fmt: skip
    return written(5, {"group_id": group, "member_id": member}, value)


def epoch(group: str, number: int) -> KeyValue:
    return written(3, {"group_id": group}, {"epoch": number, "metadata_hash": HASH})


def targets(group: str, number: int, of: Mapping[str, Sequence[int]]) -> list[KeyValue]:
    lists = [
        written(7, {"group_id": group, "member_id": member},
                {"topic_partitions": [{"topic_id": IDS["orders"], "partitions": list(partitions)}]})
        for member, partitions in of.items()
    ]  # fmt: skip
    return [*lists, written(6, {"group_id": group}, {"assignment_epoch": number, "assignment_timestamp": 0})]


def gone(group: str, member: str) -> list[KeyValue]:
    return [written(number, {"group_id": group, "member_id": member}, None) for number in (8, 7, 5)]


def lived(group: str, *of_pairs: Mapping[str, Sequence[int]]) -> list[Event]:
    """Of `a` alone, then with `b`, who leaves after each of these targets."""
    events: list[Event] = [(1, [about(group, "a"), epoch(group, 1), *targets(group, 1, {"a": range(6)})])]
    for place, of in enumerate(of_pairs):
        first = 3 * place + 2
        events += [
            (first, [about(group, "b"), epoch(group, first), *targets(group, first, of)]),
            (first + 1, [*gone(group, "b"), epoch(group, first + 1)]),
            (first + 2, [about(group, "a", str(place)), epoch(group, first + 2),
                         *targets(group, first + 2, {"a": range(6)})]),
        ]  # fmt: skip
    return events


def log_of(folder: Path, *of_pairs: Mapping[str, Sequence[int]]) -> str:
    return write_log(folder, {3: lived("g", *of_pairs), 4: lived("other", KEPT)})


def looked_at(warehouse: Path, source: str) -> list[tuple[str, str | None]]:
    """The verdicts on targets of both members."""
    ingest(warehouse, "--source", source, "--cluster", "c")
    recompute(warehouse)
    ours = [row for row in rows(warehouse, "assignment_audit") if row["group_id"] == "g"]
    ours.sort(key=lambda row: row["assignment_offset"])
    assert {(row["verdict"], row["reason"]) for row in ours[::2]} == {SAME}
    return [(row["verdict"], row["reason"]) for row in ours[1::2]]


STAGES = [
    ([SWAPPED] * 2, [DRIFT] * 2),
    # The third one shows that the class is another.
    ([SWAPPED] * 3, [CUSTOM] * 3),
    # And one that is equal, that it is Kafka's.
    ([*[SWAPPED] * 4, KEPT], [*[DRIFT] * 4, SAME]),
]


def test_later_targets_judge_the_rows_of_earlier_runs_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (of_pairs, expected) in enumerate(STAGES):
        source = log_of(tmp_path / f"log{number}", *of_pairs)
        assert looked_at(tmp_path / "grown", source) == expected
        if number:
            looked_at(tmp_path / f"w{number}", source)
            assert_same(
                row_texts(tmp_path / f"w{number}", ASSIGNMENTS), row_texts(tmp_path / "grown", ASSIGNMENTS), "grown"
            )
    # In windows of a few records, and in slices.
    monkeypatch.setattr(task, "WINDOW_ROWS", 3)
    monkeypatch.setattr(plan, "MOST_GROUP_RECORDS", 25)
    before = row_texts(tmp_path / "grown", ASSIGNMENTS)
    recompute(tmp_path / "grown", "--full")
    assert_same(before, row_texts(tmp_path / "grown", ASSIGNMENTS), "small")


def setting_line(number: int, name: str, value: str) -> str:
    line: dict[str, Any] = snapshot({"orders": (IDS["orders"], 6)})
    return json.dumps({**line, "captured_at": LATER_MS + number, "settings": {name: value}}) + "\n"


KAFKAS = "org.apache.kafka.coordinator.group.assignor."
OURS = "com.example.OurAssignor"


@pytest.mark.parametrize(
    ("values", "confidence"),
    [
        (["uniform,range", f"{KAFKAS}UniformAssignor, {KAFKAS}RangeAssignor"], "certain"),
        ([f"uniform,{OURS}"], "likely"),
        # What an earlier snapshot had may have made the target.
        ([f"uniform,{OURS}", "uniform,range"], "likely"),
        # That of another type of group.
        (["uniform", OURS], "certain"),
    ],
)
def test_a_class_in_the_setting_makes_a_drift_less_certain(values: list[str], confidence: str, tmp_path: Path) -> None:
    source = log_of(tmp_path / "log", KEPT, SWAPPED)
    names = ["group.consumer.assignors", "group.share.assignors" if values[-1] == OURS else "group.consumer.assignors"]
    lines = [setting_line(number, *each) for number, each in enumerate(zip(names, values, strict=False))]
    (tmp_path / "s.jsonl").write_text("".join(lines))
    ingest(tmp_path / "w", "--source", source, "--cluster", "c", "--snapshots", tmp_path / "s.jsonl")
    recompute(tmp_path / "w")
    (drift,) = [row for row in rows(tmp_path / "w", "assignment_audit") if row["verdict"] == "drift"]
    assert drift["confidence"] == confidence
