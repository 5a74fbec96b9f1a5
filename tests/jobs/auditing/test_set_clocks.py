"""The clock of the machine that audits is set back or forth between runs. The last run's clock is right again, and the
tables are those of runs whose clocks were always right."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from jobs import cli
from tests.runs.ingested import ROOT, history
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, growing, measured, row_texts, write_part

SAMPLE = ROOT / "data" / "sample"
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
def logs(tmp_path: Path, rng: np.random.Generator) -> list[Path]:
    """A log as three runs meet it."""
    whole = tmp_path / "whole"
    for name in ("__consumer_offsets-2",):
        shutil.copytree(SAMPLE / name, whole / name)
    result = []
    for number, share in enumerate(growing(whole, rng, 3)):
        result.append(tmp_path / f"log-{number}")
        write_part(whole, result[-1], {name: max(1, batches) for name, batches in share.items()})
    return result


def newest_snapshot_ms() -> int:
    lines = (SAMPLE / "snapshots.jsonl").read_text().splitlines()
    return max(int(json.loads(line)["captured_at"]) for line in lines)


def audited(warehouse: Path, logs: Sequence[Path], clocks: Sequence[int]) -> Path:
    for log, now_ms in zip(logs, clocks, strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time_ns", lambda now_ms=now_ms: now_ms * 1_000_000)
            words = ["audit", "--warehouse", str(warehouse), "--source", f"segments:{log}", "--workers", "1"]
            words += ["--snapshots", str(SAMPLE / "snapshots.jsonl"), "--report", str(warehouse.parent / "report")]
            assert cli.main([*words, "--fail-on", "never"]) == 0
    return warehouse


@pytest.mark.drawn(1)
@pytest.mark.parametrize("wrong_days", [-400, 400])
def test_a_clock_that_was_wrong_during_one_run_leaves_nothing_behind(
    tmp_path: Path, logs: list[Path], wrong_days: int
) -> None:
    end = newest_snapshot_ms()
    right = [end + hours * HOUR_MS for hours in (1, 2, 3)]
    wrong = [right[0], right[1] + wrong_days * DAY_MS, right[2]]
    one, other = (audited(tmp_path / name, logs, clocks) for name, clocks in (("right", right), ("wrong", wrong)))
    assert history(other) == history(one)
    for rows_of in (lambda warehouse: row_texts(warehouse, (*HISTORY, *ASSIGNMENTS)), measured):
        assert_same(rows_of(one), rows_of(other), str(wrong))
