"""A log whose copy stopped while snapshots go on: groups look as if they had stopped committing, and nobody is accused
of it. The sample, cut two minutes before its end."""

import json
import re
import time
from pathlib import Path

import pytest

from jobs import cli
from tests.audited_sample import audited_sample
from tests.jobs.measuring.test_lag import batches_until
from tests.runs.ingested import ROOT, rows
from tests.runs.replayed_logs import write_part
from tests.sample.story import checked_in, epoch_ms

__all__ = ["audited_sample"]

SAMPLE = ROOT / "data" / "sample"
LINES = (SAMPLE / "snapshots.jsonl").read_text().splitlines()
CUT_MS = 1_795_282_650_000  # 2026-11-21 17:37:30
ALARMS = {"STOP", "STALL", "REWIND", "WARN"}


def audit(folder: Path, source: Path, snapshots: Path) -> int:
    words = ["--source", f"segments:{source}", "--snapshots", str(snapshots), "--cluster", "sample"]
    config = folder / "groupscope.toml"
    config.write_text("[gate]\nmax_source_age_hours = 1\n")
    return cli.main(["audit", *words, "--warehouse", str(folder / "w"), "--config", str(config)])


def without_ends_of_the_log(into: Path) -> Path:
    """As who takes snapshots by kafka-get-offsets alone has them."""
    result = [json.loads(line) for line in LINES]
    for each in result:
        each["topics"] = [topic for topic in each["topics"] if topic["topic"] != "__consumer_offsets"]
    into.write_text("".join(f"{json.dumps(each)}\n" for each in result))
    return into


@pytest.mark.drawn(1)
@pytest.mark.parametrize("knows_ends", [True, False])
def test_who_seems_silent_after_the_end_of_the_log_is_unknown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], knows_ends: bool
) -> None:
    write_part(SAMPLE, tmp_path / "log", batches_until(SAMPLE, CUT_MS))
    whole = SAMPLE / "snapshots.jsonl"
    snapshots = whole if knows_ends else without_ends_of_the_log(tmp_path / "some.jsonl")
    earlier = time.time_ns() - 2 * 3_600 * 10**9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: earlier)
        audit(tmp_path, tmp_path / "log", snapshots)
    first = capfd.readouterr().out
    audit(tmp_path, tmp_path / "log", snapshots)
    page = capfd.readouterr().out
    result = [row for row in rows(tmp_path / "w", "group_verdicts") if row["partition"] is not None]
    assert epoch_ms(checked_in().event("partition-stopped")["from_time"]) < CUT_MS
    assert not {row["own_verdict"] for row in result} & ALARMS
    assert not {row["burrow_verdict"] for row in result} & ALARMS
    ended = [row for row in result if row["rule"] == "log_ended"]
    assert {row["own_verdict"] for row in ended} == {"UNKNOWN"}
    assert ("ledger", 3) in {(row["group_id"], row["partition"]) for row in ended}
    assert all(row["reason"].startswith("the data ends at 2026-11-21T17:3") for row in ended)
    assert "partition stopped" not in first and "partition stopped" not in page
    # Only the second look at the copy can say that nothing newer came.
    assert "nothing new from the source" not in first and "nothing new from the source" in page
    for each in (first, page):
        assert re.search(r"^The log ends 2026-11-21T17:3\d:\S+Z, \d+ \w+.* before this run$", each, re.MULTILINE)


def test_the_whole_log_names_the_partition_that_stopped(audited_sample: Path) -> None:
    result = {
        (row["group_id"], row["topic"], row["partition"]): row["own_verdict"]
        for row in rows(audited_sample, "group_verdicts")
    }
    assert (result["ledger", "payments", 3], result["ledger", "payments", 2]) == ("STOP", "STALL")
