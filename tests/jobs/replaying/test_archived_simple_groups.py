"""Groups of offsets alone in an archive without producers: any of their commits may be of an aborted transaction."""

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders.generated.topics import written
from tests.builders.logs.by_hand import Event, commit, generation
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import assert_same, replay, row_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("session")]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Which the runs take, as they would one of their own."""
    return spark


def deletion(group: str, seconds: float) -> Event:
    return seconds, [written(1, {"group": group, "topic": "t", "partition": 0}, None, 3)]


# A group of offsets that ends, one that is there still, and one that gets members.
EVENTS = [
    commit("ended", "t", 0, 1), commit("there", "t", 0, 2), commit("joined", "t", 0, 3), deletion("ended", 4),
    generation("joined", 1, 5, {"m": [0]}), commit("there", "t", 0, 6),
]  # fmt: skip


def archived(shown: dict[str, Any]) -> Rows:
    return [
        {"topic": "__consumer_offsets", "partition": 3, "offset": offset, "timestamp": T0 + round(seconds * 1000),
         "key": base64.b64encode(key).decode(), "value": None if value is None else base64.b64encode(value).decode(),
         **shown}
        for offset, (seconds, ((key, value),)) in enumerate(EVENTS)
    ]  # fmt: skip


def replayed(folder: Path, *parts: Rows) -> Path:
    (folder / "archive").mkdir(parents=True)
    for number, part in enumerate(parts):
        (folder / "archive" / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
        ingest(folder / "w", "--source", f"records:{folder / 'archive'}")
        replay(folder / "w")
    return folder / "w"


def states(warehouse: Path) -> list[tuple[str, str, str, str | None]]:
    names = ("group_id", "state", "confidence", "ended_by")
    return sorted(tuple(row[name] for name in names) for row in rows(warehouse, "group_state_intervals"))  # type: ignore[misc]


def expected(of_offsets: str) -> list[tuple[str, str, str, str | None]]:
    return sorted([
        ("ended", "Empty", of_offsets, "deleted"), ("there", "Empty", of_offsets, None),
        ("joined", "Empty", of_offsets, "next_state"),
        ("joined", "Stable", "certain", None),
    ])  # fmt: skip


def test_a_group_of_offsets_alone_is_no_surer_than_its_commits(tmp_path: Path) -> None:
    plain = {"producer_id": -1, "producer_epoch": -1, "is_transactional": False, "is_control": False}
    assert states(replayed(tmp_path / "plain", archived(plain))) == expected("certain")
    whole = replayed(tmp_path / "whole", archived({}))
    assert states(whole) == expected("possible")
    for cut in range(1, len(EVENTS)):
        parts = archived({})[:cut], archived({})[cut:]
        assert_same(row_texts(whole), row_texts(replayed(tmp_path / str(cut), *parts)), str(cut))
