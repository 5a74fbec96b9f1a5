"""Audits whose warehouses must have equal rows, and logs for them that grow from audit to audit."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs import cli
from jobs.ingestion.task import plan
from jobs.recomputing.run import Recomputation
from jobs.replaying.run import Replay
from schemas.tables import BESIDE_RUNS, TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.short_logs import short_log
from tests.runs.ingested import ROOT, rows, versions
from tests.runs.replayed_logs import assert_same, growing, write_part
from tests.runs.warehouse_runs import write

SNAPSHOTS = ROOT / "data" / "sample" / "snapshots.jsonl"
# 22: of so few records one that cannot be read is a large share.
CODES = (ExitCode.CLEAN, ExitCode.REJECTED_SHARE)
# Clocks of the run. All other columns follow from the log, snapshots and settings.
CLOCKS = {"started_time", "finished_time"}
# Of a run's id its number is the same everywhere.
RUN_ID_CLOCK = re.compile(r"(?<=\d{8})-\d{8}T\d{6}Z")

# Writes what an audit will find new into a folder, once for each audit.
Growth = Callable[[Path, int], Iterator[None]]


@pytest.fixture
def many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a small log."""
    monkeypatch.setattr(plan, "SMALLEST_TASK", 1 << 10)
    for job, least_records in ((Replay, 100), (Recomputation, 10)):
        monkeypatch.setattr(job, "least_records", least_records)
        monkeypatch.setattr(job, "records_per_partition", 0)


def audit(warehouse: str, segments: str, *flags: str, snapshots: Path | None = SNAPSHOTS) -> None:
    """`snapshots`: those of the sample fit logs that name no topic's id."""
    words = ["audit", "--warehouse", warehouse, "--source", f"segments:{segments}"]
    words += [] if snapshots is None else ["--snapshots", str(snapshots)]
    # Otherwise verdicts would depend on the hour of the test.
    settings = ["--config", str(ROOT / "conf" / "sample.toml")]
    assert cli.main([*words, *settings, "--fail-on", "never", *flags]) in CODES


def grown_in_two(whole: Path) -> Growth:
    """A part of a log, cut at random, and then all of it."""

    def grow(source: Path, seed: int) -> Iterator[None]:
        for share in growing(whole, np.random.default_rng(seed), 2):
            # A log without a batch is none.
            write_part(whole, source, {name: max(1, number) for name, number in share.items()})
            yield

    return grow


def random_parts(source: Path, seed: int) -> Iterator[None]:
    """Parts of a random log, as copies: those of its first run, and then all."""
    log = short_log(seed, most_operations=200)
    for runs in (range(1), range(1, log.num_runs)):
        for run in runs:
            for number, part in enumerate(log.of_run(run)):
                write(part, source / f"copy-{run}-{number}")
        yield


def every_row(warehouse: Path) -> dict[str, list[str]]:
    """Of every table that there is, without the clocks of runs."""
    at = versions(warehouse)
    made = [name for name, table in TABLES.items() if name not in BESIDE_RUNS and (warehouse / table.folder).exists()]
    return {name: sorted(as_text(name, row) for row in rows(warehouse, name, at)) for name in made}


def as_text(table: str, row: dict[str, Any]) -> str:
    kept = {name: value for name, value in row.items() if name not in CLOCKS}
    if TABLES[table].is_state and "state" in kept:
        # Of a group in replay: its members and topics come in any order.
        kept["state"] = in_one_order(json.loads(kept["state"]))
    return RUN_ID_CLOCK.sub("", repr(kept))


def in_one_order(value: Any) -> str:
    if isinstance(value, dict):
        return repr(sorted((key, in_one_order(each)) for key, each in value.items()))
    return repr(sorted(map(in_one_order, value)) if isinstance(value, list) else value)


def assert_every_row_same(one: Path, other: Path) -> None:
    expected, found = every_row(one), every_row(other)
    assert found.keys() == expected.keys()
    assert_same(expected, found, str(other))
