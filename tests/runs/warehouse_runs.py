"""The same runs through a warehouse on disk: `ingest` and `replay` as everybody runs them, without Spark."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs import cli
from tests.builders.logs.short_logs import PARTITION, LogPart, ShortLog
from tests.builders.warehouses.replayed_segments import snapshot
from tests.make.log import T0
from tests.runs.replayed_logs import HISTORY, replay, row_texts

TableTexts = Mapping[str, list[str]]


def histories(log: ShortLog, folder: Path) -> tuple[TableTexts, TableTexts]:
    """What several runs left of the log, and what one run then makes of the same warehouse."""
    warehouse, snapshots = folder / "w", snapshots_file(log, folder)
    for run in range(log.num_runs):
        is_known = log.snapshots_from is not None and run >= log.snapshots_from
        more: list[str | Path] = ["--snapshots", snapshots] if is_known else []
        for number, part in enumerate(log.of_run(run)):
            ingest(warehouse, write(part, folder / f"{run}-{number}"), *more)
        replay(warehouse)
    several = row_texts(warehouse, HISTORY)
    replay(warehouse, "--full")
    return several, row_texts(warehouse, HISTORY)


def ingest(warehouse: Path, source: Path, *more: str | Path) -> None:
    words = ["ingest", "--warehouse", str(warehouse), "--source", f"segments:{source}", *map(str, more)]
    # 22: of so few records one that cannot be read is a large share.
    assert cli.main(words) in (0, 22)


def write(part: LogPart, folder: Path) -> Path:
    """One segment; its name says from where on it holds all that the cleaner left."""
    home = folder / f"__consumer_offsets-{PARTITION}"
    home.mkdir(parents=True)
    (home / f"{part.first:020}.log").write_bytes(part.bytes())
    return folder


def snapshots_file(log: ShortLog, folder: Path) -> Path:
    file = folder / "snapshots.jsonl"
    file.write_text(json.dumps(snapshot(log.topics) | settings_line(log)) + "\n")
    return file


def settings_line(log: ShortLog) -> dict[str, Any]:
    minutes = None if log.retention_ms is None else max(1, log.retention_ms // 60_000)
    settings = {} if minutes is None else {"offsets.retention.minutes": str(minutes)}
    return {"captured_at": T0, "settings": settings}
