"""What a replay takes from snapshots, from any of them. By Kafka's hash of their names group `g` belongs to
partition 3 of 10 and of 50, `my-group` to 2 of 10 and 12 of 50."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.replaying.task.snapshot_rules import num_offsets_partitions
from schemas.words.records import OFFSETS_TOPIC
from tests.builders.logs.copies import T0, Written, WrittenBatch, commit
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import assert_same, replay, row_texts
from udfs.topics.names import Snapshots

LATER = T0 + 60_000


def write_log(folder: Path, *groups: str, partition: int = 3) -> str:
    home = folder / f"__consumer_offsets-{partition}"
    home.mkdir(parents=True)
    written = tuple(Written(delta, *commit(group, "t", 0, delta)) for delta, group in enumerate(groups))
    (home / f"{0:020}.log").write_bytes(WrittenBatch(0, 0, written, len(groups) - 1).bytes)
    return f"segments:{folder}"


def topic(name: str, partitions: int) -> dict[str, Any]:
    return {"topic": name, "partitions": [{"partition": each, "log_end_offset": 9} for each in range(partitions)]}


def leaders(partitions: int) -> list[dict[str, int]]:
    return [{"partition": each, "leader": 1} for each in range(partitions)]


LISTED = {"topics": [topic(OFFSETS_TOPIC, 10), topic("t", 1), topic("u", 1)]}
LED = {"topics": [], "offsets_partitions": leaders(10)}
SET = {"topics": [], "settings": {"offsets.topic.num.partitions": "10"}}
SILENT = {"topics": [topic("t", 1)], "settings": {"offsets.retention.minutes": "7"}, "offsets_partitions": []}


def ingest_snapshots(warehouse: Path, *snapshots: dict[str, Any], first: int = LATER) -> None:
    path = warehouse.with_suffix(f".{first}.jsonl")
    path.write_text("".join(json.dumps({"captured_at": first + n, **each}) + "\n" for n, each in enumerate(snapshots)))
    ingest(warehouse, "--snapshots", path)


def misplaced(warehouse: Path) -> list[tuple[str, str]]:
    result = [row for row in rows(warehouse, "replay_anomalies") if row["kind"] == "group_in_wrong_partition"]
    return sorted((row["group_id"], row["message"]) for row in result)


WRONG = [("my-group", "records of the group are in offsets partition 3; its hash gives 2 (of 10 partitions)")]


@pytest.mark.parametrize(
    ("snapshots", "number"),
    [
        pytest.param([LISTED], 10, id="topics"),
        pytest.param([LED], 10, id="leaders"),
        pytest.param([SET], 10, id="setting"),
        pytest.param([LISTED, SILENT], 10, id="not forgotten"),
        pytest.param([{**LED, "offsets_partitions": leaders(50)}, LISTED], 10, id="newest"),
        pytest.param([LED, {**SET, "settings": {"offsets.topic.num.partitions": "50"}}], 10, id="topic over setting"),
        pytest.param([LED, {**LED, "offsets_partitions": leaders(1)}], 10, id="of some partitions"),
        pytest.param([SILENT], None, id="unknown"),
    ],
)
def test_any_snapshot_shows_how_many_offsets_partitions_there_are(
    snapshots: list[dict[str, Any]], number: int | None
) -> None:
    listed = [{(each["topic"], None): len(each["partitions"]) for each in row["topics"]} for row in snapshots]
    captured = [
        {"captured_time": time, "offsets_partitions": row.get("offsets_partitions"), "settings": row.get("settings")}
        for time, row in enumerate(snapshots)
    ]
    found, source = num_offsets_partitions(captured, Snapshots(dict(enumerate(listed))), last_seen=3)
    assert found == number
    is_listed = any(("__consumer_offsets", None) in each for each in listed)
    is_listed |= any(row["offsets_partitions"] for row in captured)
    assert source == (None if number is None else "snapshot" if is_listed else "setting")


def test_a_snapshot_that_says_nothing_new_replays_nothing_again(tmp_path: Path) -> None:
    source = write_log(tmp_path / "log", "g", "my-group")
    ingest(tmp_path / "w", "--source", source)
    ingest_snapshots(tmp_path / "w", LISTED)
    replay(tmp_path / "w")
    assert misplaced(tmp_path / "w") == WRONG
    # The text of kafka-get-offsets, of one topic; another capture; only what the broker is set to.
    text = tmp_path / "ends.txt"
    text.write_text("t:0:12\n")
    ingest(tmp_path / "w", "--snapshots", text, "--captured-at", str(LATER + 1000))
    assert replay(tmp_path / "w")["num_partitions"] == 0
    ingest_snapshots(tmp_path / "w", LISTED, SET, LED, first=LATER + 2000)
    assert replay(tmp_path / "w")["num_partitions"] == 0
    assert {row["topic"] for row in rows(tmp_path / "w", "topics") if row["is_provisional"]} == {
        OFFSETS_TOPIC,
        "t",
        "u",
    }
    before = row_texts(tmp_path / "w")
    replay(tmp_path / "w", "--full")
    assert_same(before, row_texts(tmp_path / "w"), "full")
    assert misplaced(tmp_path / "w") == WRONG


def test_a_group_in_two_offsets_partitions_is_reported_when_row_groups_have_several_partitions_and_clusters(
    tmp_path: Path,
) -> None:
    def row_groups() -> list[tuple[set[int], set[str]]]:
        paths = DeltaTable(tmp_path / "w" / "offset_commits").file_uris()
        tables = [pq.read_table(path, partitioning=None).to_pydict() for path in paths]
        return [({*table["offsets_partition"]}, {*table["cluster"]}) for table in tables]

    write_log(tmp_path / "one", "g", "other")
    ingest(tmp_path / "w", "--source", write_log(tmp_path / "one", "one-more", "g", partition=4))
    assert row_groups() == [({3, 4}, {"default"})]
    replay(tmp_path / "w")
    both = ("g", "records of the group are in offsets partitions 3, 4; its coordinator reads only one of them")
    assert misplaced(tmp_path / "w") == [both, both]

    # Another cluster has other groups where the first one has them.
    ingest(tmp_path / "w", "--source", write_log(tmp_path / "two", "other", partition=4), "--cluster", "d")
    DeltaTable(tmp_path / "w" / "offset_commits").optimize.compact()
    ingest(tmp_path / "w", "--source", write_log(tmp_path / "three", "third", partition=5), "--cluster", "default")
    assert ({3, 4}, {"default", "d"}) in row_groups()
    replay(tmp_path / "w", "--full", "--cluster", "default")
    assert misplaced(tmp_path / "w") == [both, both]


def test_a_group_in_two_offsets_partitions_is_reported_and_read_from_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def answers(*words: str) -> tuple[list[str], str]:
        capfd.readouterr()
        assert cli.main([*words, "--warehouse", str(tmp_path / "w"), "--format", "csv"]) == 0
        out, err = capfd.readouterr()
        return out.splitlines(), err

    ingest(tmp_path / "w", "--source", write_log(tmp_path / "one", "g", "other"))
    replay(tmp_path / "w")
    assert misplaced(tmp_path / "w") == []
    # Its second record is the newest one of group g.
    ingest(tmp_path / "w", "--source", write_log(tmp_path / "two", "one-more", "g", partition=4))
    replay(tmp_path / "w")
    both = ("g", "records of the group are in offsets partitions 3, 4; its coordinator reads only one of them")
    assert misplaced(tmp_path / "w") == [both, both]
    before = row_texts(tmp_path / "w")
    replay(tmp_path / "w", "--full")
    assert_same(before, row_texts(tmp_path / "w"), "full")
    result, said = answers("offsets", "g")
    assert (result, "uses only 4, since it has the newest record" in said) == (["t,0,1"], True)

    ingest_snapshots(tmp_path / "w", LED)
    replay(tmp_path / "w")
    assert ("g", "records of the group are in offsets partition 4; its hash gives 3 (of 10 partitions)") in misplaced(
        tmp_path / "w"
    )
    result, said = answers("offsets", "g")
    assert (result, "uses only 3, since the group's coordinator reads that one" in said) == (["t,0,0"], True)
    result, said = answers("groups")
    assert [line.split(",")[0] for line in result[1:]] == ["g", "one-more", "other"]
    assert said.count("group g: its records are in __consumer_offsets, partitions 3, 4;") == 1
    _, said = answers("offsets", "other")
    assert "stand in" not in said
