"""Warehouses that a release of contract version 2 wrote, kept as it left them: `older_releases/contract-2-*.tar.xz`.

`two_clusters` and `kept_year` made them, by the release itself. Here they make the same by this release.
"""

import json
import os
import shutil
import tarfile
from datetime import timedelta
from pathlib import Path

from benchmarks.year_of_audits import AuditedYear
from jobs import cli
from jobs.storage.failpoints import VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT
from tests.runs.replayed_logs import batch_ends, write_part

KEPT = Path(__file__).parents[2] / "jobs" / "warehouses" / "older_releases"
SAMPLE = ROOT / "data" / "sample"
GROUP, UNTIL = "classic-storm", "2126-01-01"
WAIVERS = f"""[[waivers]]
kind = "rebalance_storm"
group = "{GROUP}"
reason = "the notifier is being replaced"
who = "ann"
until = "{UNTIL}T00:00Z"
"""
DAYS, CLOCK = 4, "clock.json"


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(KEPT / f"contract-2-{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "w"


def two_clusters(folder: Path) -> Path:
    """An audit of the first two fifths of a log, with a waiver, a mark and spans of each verdict; one of another
    cluster, whose log has a damaged batch."""
    warehouse = folder / "w"
    log("one", ["__consumer_offsets-2", "__consumer_offsets-4"], 0.4, folder)
    log("two", ["__consumer_offsets-6"], 0.15, folder)
    damage(next((folder / "two").rglob("*.log")))
    (folder / "conf").mkdir()
    shutil.copy(ROOT / "conf" / "sample.toml", folder / "conf" / "groupscope.toml")
    (folder / "conf" / "waivers.toml").write_text(WAIVERS)
    audit(warehouse, folder, "one", "--snapshots", SAMPLE / "snapshots.jsonl")
    of_one = ["--warehouse", warehouse, "--cluster", "one"]
    run("mark", "classic-storm restarted", "--at", "2026-11-21T17:36:50", *of_one)
    span = ["gate", "--group", GROUP, *of_one, "--result", folder / "result.json", "--span"]
    validated(folder, is_passed=True)
    run(*span, "orders:0:0:10:10")
    validated(folder, is_passed=False)
    run(*span, "orders:1:0:20", code=ExitCode.FINDINGS)
    run(*span, "orders:2:5:9", "--override", "late file", "--actor", "ann", "--until", UNTIL)
    audit(warehouse, folder, "two", code=ExitCode.REJECTED_SHARE)
    return warehouse


def log(name: str, folders: list[str], share: float, folder: Path) -> None:
    """The first batches of these folders of the sample."""
    whole = folder / f"whole-{name}"
    for each in folders:
        shutil.copytree(SAMPLE / each, whole / each)
    numbers = {
        each: int(sum(len(batch_ends(segment.read_bytes())) for segment in (whole / each).glob("*.log")) * share)
        for each in folders
    }
    write_part(whole, folder / name, numbers)


def damage(segment: Path) -> None:
    """One byte in a batch in the middle."""
    data = bytearray(segment.read_bytes())
    ends = [0, *batch_ends(bytes(data))]
    data[ends[len(ends) // 2] + 70] ^= 0xFF
    segment.write_bytes(data)


def validated(folder: Path, *, is_passed: bool) -> None:
    """A Great Expectations result."""
    about = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "id"}}
    results = [{"success": is_passed, "expectation_config": about, "result": {}}]
    result = {"success": is_passed, "suite_name": "orders", "results": results, "meta": {}}
    (folder / "result.json").write_text(json.dumps(result))


def audit(
    warehouse: Path,
    folder: Path,
    cluster: str,
    *more: str | Path,
    log: Path | None = None,
    code: ExitCode = ExitCode.CLEAN,
) -> None:
    words = ["audit", "--warehouse", warehouse, "--source", f"segments:{log or folder / cluster}", "--cluster", cluster]
    words += ["--config", folder / "conf" / "groupscope.toml", "--fail-on", "never"]
    run(*words, "--report", folder / f"report-{cluster}", "--quiet", *more, code=code)


def run(*words: str | Path, code: ExitCode | None = ExitCode.CLEAN) -> None:
    """`code`: None if any will do."""
    found = cli.main([str(word) for word in words])
    assert code in (found, None), words


def kept_year(folder: Path, *, kill: bool = False) -> None:
    """Four days with an audit and a `maintain` that keeps one. `kill`: the last one in the middle of its commits, and
    this process with it; the state is there before."""
    year = AuditedYear(folder, 1, timedelta(days=1))
    for day in range(DAYS):
        year.day(day)
        if day == DAYS - 1:
            (folder / CLOCK).write_text(json.dumps({**year.state(), "now_ms": year.now_ms + 1000}))
            if kill:
                os.environ[VARIABLE] = "table_committed:offset_history"
        year.maintain()


def later_day(folder: Path) -> None:
    """The day after those of `kept_year`."""
    year = AuditedYear(folder, 1, timedelta(days=1), **json.loads((folder / CLOCK).read_text()))
    year.day(DAYS)
    year.maintain()
