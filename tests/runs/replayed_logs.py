"""Runs `groupscope replay` or a job behind it and looks at what it left; logs that grow from run to run, as a broker's
do."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs import cli
from jobs.storage.failpoints import VARIABLE
from schemas.tables import SUBJECTS, TABLES
from tests.runs.ingested import ROOT, rows, versions

HISTORY = [table.name for table in (*SUBJECTS["history"], *SUBJECTS["offsets"])]
STATES = [table.name for table in SUBJECTS["replayed"] if table.name in TABLES]
ASSIGNMENTS = [table.name for table in SUBJECTS["assignments"] if not table.is_state]
MEASURED = [table.name for table in SUBJECTS["lag"] if not table.is_state and table.name != "offsets_partitions"]
# What the next run compares itself with is of the run alone; and a run writes no spans.
GATED = [table.name for table in SUBJECTS["gate"] if table.job == "gate" and not table.is_state]
# What is of the run, not of the log.
OF_THE_RUN = {
    "run_id", "through_run_id", "whole_run_id", "started_time", "finished_time", "rules", "snapshots_through_time",
}  # fmt: skip


def replay(warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    return result_of("replay", warehouse, *arguments)


def run_replay(warehouse: Path, *arguments: str | Path) -> int:
    return cli.main(["replay", "--warehouse", str(warehouse), *map(str, arguments)])


def recompute(warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    return result_of("assignments", warehouse, *arguments)


def result_of(job: str, warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    """The run's result."""
    result = warehouse.with_suffix(f".{job}.json")
    words = [job, "--warehouse", str(warehouse), "--result-file", str(result), *map(str, arguments)]
    code = cli.main(words)
    document: dict[str, Any] = json.loads(result.read_text())
    assert code == document["exit_code"] == 0, document
    return document


def killed_at(point: str, job: str, warehouse: Path, *arguments: str) -> int:
    command = [sys.executable, "-m", "jobs.cli", job, "--warehouse", str(warehouse), *arguments]
    environment = {**os.environ, VARIABLE: point}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=120).returncode


def copies(segments: Sequence[Path], folder: Path, number: int) -> Iterator[str]:
    """So many copies of other brokers, each of which has some of the segments alone."""
    for step, some in enumerate(np.array_split(np.array(segments, object), number)):
        for segment in some:
            into = folder / f"copy-{step}-{segment.stem}" / segment.parent.name
            into.mkdir(parents=True)
            (into / segment.name).write_bytes(segment.read_bytes())
        yield f"segments:{folder}/copy-{step}-*"


def row_texts(warehouse: Path, tables: Sequence[str] = (*HISTORY, *STATES)) -> dict[str, list[str]]:
    """Every row that a replay keeps, in one order. A table of an older release has its new columns last."""
    result, at = {}, versions(warehouse)
    for name in tables:
        columns = [column.name for column in TABLES[name].columns]
        kept = (
            {key: plain(name, key, row[key], row.get("run_id", "")) for key in columns if key in row}
            for row in rows(warehouse, name, at)
        )
        result[name] = sorted(repr({key: value for key, value in row.items() if key not in OF_THE_RUN}) for row in kept)
    return result


def measured(warehouse: Path) -> dict[str, list[str]]:
    """Every row that `lag` made but its own progress."""
    names = [name for name in MEASURED if not TABLES[name].is_state and (warehouse / TABLES[name].folder).exists()]
    result = row_texts(warehouse, names)
    # Each run adds how groups stood as of its own time.
    verdicts = "group_verdicts"
    if result.get(verdicts):
        newest = repr(max(row["as_of_time"] for row in rows(warehouse, verdicts)))
        result[verdicts] = [row for row in result[verdicts] if newest in row]
    return result


def plain(table: str, column: str, value: Any, run_id: str) -> Any:
    """States of groups say the same in many orders; statements name the run that made them."""
    if column == "state" and table in ("replayed_groups", "recomputed_groups"):
        return None
    return value.replace(run_id, "RUN") if column == "query" and value is not None else value


def assert_same(one: Mapping[str, list[str]], other: Mapping[str, list[str]], about: str) -> None:
    for name, result in one.items():
        in_one, in_other = set(result), set(other[name])
        only_one = [row for row in result if row not in in_other]
        only_other = [row for row in other[name] if row not in in_one]
        assert not only_one and not only_other, (about, name, only_one[:2], only_other[:2])
        assert result == other[name], (about, name)


def batch_ends(content: bytes) -> list[int]:
    """Positions behind each batch."""
    ends, place = [], 0
    while place < len(content):
        place += 12 + int.from_bytes(content[place + 8 : place + 12], "big")
        ends.append(place)
    return ends


def write_part(source: Path, into: Path, share: Mapping[str, int]) -> None:
    """The log as it was when each offsets partition had so many of its batches: later segments are not there yet."""
    for folder in sorted(source.glob("__consumer_offsets-*")):
        left = share[folder.name]
        for segment in sorted(folder.glob("*.log")):
            content = segment.read_bytes()
            ends = batch_ends(content)
            taken, left = min(left, len(ends)), left - min(left, len(ends))
            if taken:
                (into / folder.name).mkdir(parents=True, exist_ok=True)
                (into / folder.name / segment.name).write_bytes(content[: ends[taken - 1]])


def growing(source: Path, rng: np.random.Generator, num_steps: int) -> list[dict[str, int]]:
    """How many batches of each partition there are at each step; all of them at the last."""
    totals = {
        folder.name: sum(len(batch_ends(segment.read_bytes())) for segment in folder.glob("*.log"))
        for folder in sorted(source.glob("__consumer_offsets-*"))
    }
    cuts = {name: sorted(rng.integers(0, total + 1, num_steps - 1).tolist()) for name, total in totals.items()}
    return [{name: cuts[name][step] for name in totals} for step in range(num_steps - 1)] + [totals]
