"""Segments, ingested and replayed by the commands that everybody uses."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs import cli
from tests.oracles.history.at_instant import Replayed

# Names to ids and numbers of partitions.
Topics = Mapping[str, tuple[str, int]]
# After everything in the log.
LATER_MS = 1_900_000_000_000


def replay(warehouse: Path, log_dir: Path, *more: str) -> Replayed:
    """`more` are arguments of ingest."""
    command(warehouse, "ingest", "--source", f"segments:{log_dir}", *more)
    command(warehouse, "replay")
    return Replayed.of(warehouse)


def replay_with(topics: Topics, warehouse: Path, log_dir: Path) -> Replayed:
    """The log knows most topics by their ids alone: a snapshot names them."""
    snapshots = warehouse.with_suffix(".snapshots.jsonl")
    snapshots.write_text(json.dumps(snapshot(topics)) + "\n")
    return replay(warehouse, log_dir, "--snapshots", str(snapshots))


def command(warehouse: Path, *arguments: str) -> None:
    code = cli.main([arguments[0], "--debug", "--warehouse", str(warehouse), *arguments[1:]])
    assert code == 0, f"{arguments} ended with {code}"


def snapshot(topics: Topics) -> dict[str, Any]:
    return {
        "captured_at": LATER_MS,
        "topics": [
            {"topic": name, "topic_id": topic_id, "partitions": [partition(each) for each in range(number)]}
            for name, (topic_id, number) in topics.items()
        ],
        "brokers": [],
        "offsets_partitions": [],
        "settings": {},
    }


def partition(number: int) -> dict[str, Any]:
    return {"partition": number, "log_start_offset": 0, "log_end_offset": 0, "leader_epoch": 0, "racks": []}
