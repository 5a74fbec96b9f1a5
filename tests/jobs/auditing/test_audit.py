"""The audit as a newcomer runs it: on the sample, twice, with and without a Java on the machine."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from schemas.tables import BESIDE_RUNS, SUBJECTS, USER_TABLES
from schemas.words.assignments import Verdict
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, rows
from tests.runs.progress_lines import beside_progress
from tests.runs.typed_here import typed_here
from tests.sample.story import checked_in

SAMPLE = ROOT / "data" / "sample"


def words(folder: Path, *flags: str, source: Path = SAMPLE) -> list[str]:
    found = ["audit", "--source", f"segments:{source}", "--cluster", "sample"]
    found += ["--snapshots", str(SAMPLE / "snapshots.jsonl"), "--warehouse", str(folder)]
    return [*found, "--config", str(ROOT / "conf" / "sample.toml"), "--report", str(folder.parent / "report"), *flags]


def counted(page: str) -> dict[str, tuple[int, int]]:
    """Rows and added rows of each table, as the page shows them."""
    found = re.findall(r"^(\w+) +(\d+) +(\d+)  \S", page, flags=re.MULTILINE)
    return {name: (int(rows), int(added)) for name, rows, added in found}


def test_the_run_page_tells_what_the_tables_hold(tmp_path: Path) -> None:
    done = typed_here(words(tmp_path / "w", "--fail-on", "never", "--verbose"), ROOT)
    assert (done.returncode, beside_progress(done.stderr)) == (0, [])
    shown = counted(done.stdout)
    # Each of these has grown by all of its rows; `runs` is written when the page is made.
    held = {name: len(rows(tmp_path / "w", name)) for name in USER_TABLES if name not in BESIDE_RUNS | {"runs"}}
    assert shown == {name: (number, number) for name, number in held.items() if number}
    records = sum(added for name, (_, added) in shown.items() if USER_TABLES[name] in SUBJECTS["decoded"])
    assert records == len(checked_in().log)
    assert f"{records:,} read: {records:,} decoded, 0 rejected, 0 already known" in done.stdout
    assert done.stdout.startswith("FINDINGS, exit code 0 because of --fail-on never, else 20: ")
    of_verdicts = Counter(row["verdict"] for row in rows(tmp_path / "w", "assignment_audit"))
    assert of_verdicts["same"]
    told = ", ".join(f"{number:,} {verdict}" for verdict in Verdict if (number := of_verdicts[verdict]))
    assert re.findall(r"(\d+) (?:recomputed|so far): (.*)", done.stdout) == [(str(of_verdicts.total()), told)] * 2

    again = typed_here(words(tmp_path / "w", "--fail-on", "never"), ROOT)
    assert (again.returncode, beside_progress(again.stderr)) == (0, [])
    assert "0 files (32 others unchanged)" in again.stdout
    told_again = re.findall(r"(\d+) (?:recomputed|so far): (.*)", again.stdout)
    assert told_again == [("0", "none"), (str(of_verdicts.total()), told)]
    assert counted(again.stdout) == {}
    # One screen: what is known is counted.
    findings = Counter(row["severity"] for row in rows(tmp_path / "w", "findings"))
    told_counts = ", ".join(f"{findings[name]} {name}" for name in ("critical", "warning", "info"))
    page = again.stdout.splitlines()
    assert len(page) <= 25 and "SELECT" not in again.stdout
    assert page[-1] == f"known     {findings.total()} since before: {told_counts}; --verbose lists them"
    assert held == {name: len(rows(tmp_path / "w", name)) for name in held}


@pytest.mark.spark
def test_the_audit_needs_no_java_on_the_machine(tmp_path: Path) -> None:
    """Whatever the input, Spark has its Java from pip then."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "basename", "env", "cat", "ls", "uname", "sed", "tr", "readlink", "ps", "rm"):
        if (found := shutil.which(name)) is not None:
            (tools / name).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(tools)}
    assert shutil.which("java", path=str(tools)) is None
    # Here is the partition that stopped.
    source = SAMPLE / "__consumer_offsets-7"
    command = [
        sys.executable,
        "-m",
        "jobs.cli",
        *words(tmp_path / "w", "--engine", "spark", "--verbose", source=source),
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == ExitCode.FINDINGS, done.stderr
    assert beside_progress(done.stderr) == []
    assert counted(done.stdout)["offset_commits"][0] > 0
