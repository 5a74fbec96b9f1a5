"""What the README and the pages say to type works as they say it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.exit_codes import ExitCode
from tests.written_segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from udfs.snapshots import parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
LOGS = "/var/kafka-logs"
COMMANDS = re.findall(r"^\.venv/bin/groupscope (.+)$", README, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    segment(folder, batch(10, [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3)]), partition=3)
    return folder


@pytest.fixture(scope="module")
def workplace(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a user types: one command finds what those before it left."""
    folder = tmp_path_factory.mktemp("workplace")
    run(f"audit --source segments:{LOGS} --warehouse warehouse", logs, folder)
    return folder


@pytest.fixture(scope="module")
def sample_workplace(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with what the page asks the readers for: the sample's story."""
    folder = tmp_path_factory.mktemp("sample")
    sample = ROOT / "data" / "sample"
    run(f"audit --source segments:{sample} --snapshots {sample}/snapshots.jsonl", logs, folder)
    return folder


def test_the_line_of_a_snapshot_is_one() -> None:
    (shown,) = re.findall(r"```\n(\{\"captured_at.+?)```", README, flags=re.DOTALL)
    (row,) = parse(shown.replace("\n", ""), 0).clusters
    assert row["group_settings"] == [{"group_id": "billing", "settings": [("consumer.session.timeout.ms", "6000")]}]
    assert None not in row.values()


READERS = ("groups", "describe", "owner", "diff", "offsets", "rebalances", "why", "whatif")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(command: str, logs: Path, workplace: Path, sample_workplace: Path) -> None:
    done = run(command, logs, sample_workplace if command.startswith(READERS) else workplace)
    # An audit of a log that has not gone on for days finds just that.
    assert done.returncode == (ExitCode.FINDINGS if command.startswith("audit") else 0)
    # As Kafka's tool does, a reader says there that a group has no members, or what it had to go without.
    assert not done.stderr or command.startswith(READERS)
    # The groups that the page speaks of are not in these logs.
    assert done.stdout or "--group" in command


def run(command: str, logs: Path, workplace: Path) -> subprocess.CompletedProcess[str]:
    shell = f"{sys.executable} -m jobs.cli {command.replace(LOGS, shlex.quote(str(logs)))}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, cwd=workplace, env=environment, timeout=300, check=False
    )


def test_the_answer_of_assign_is_the_one_that_the_readme_shows(tmp_path: Path) -> None:
    ((shell, answer),) = re.findall(r"\$ (echo .+?)groupscope assign\n(.+?)\n```", README, flags=re.DOTALL)
    command = f"{shell}{sys.executable} -m jobs.cli assign"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60, check=True
    )
    assert done.stdout == answer + "\n"


@pytest.mark.parametrize(
    "command",
    ["assign", "assignments", "dump", "ingest", "replay", "lag", "audit", "gate", "report", "capture", "sql", *READERS],
)
def test_the_readme_shows_each_flag_of_a_command(command: str) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "jobs.cli", command, "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    flags = set(re.findall(r"^  (--[a-z-]+)", told, flags=re.MULTILINE)) - {"--debug", "--fail-on"}
    assert flags - set(re.findall(r"`(--[a-z-]+)", README)) == set()


def test_the_line_that_the_readme_shows_has_the_fields_of_a_real_one(logs: Path) -> None:
    (shown,) = re.findall(r"```json\n(.+?)```", README, flags=re.DOTALL)
    command = [sys.executable, "-m", "jobs.cli", "dump", "--type", "1", *map(str, logs.glob("*/*.log"))]
    real = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout)
    assert list(json.loads(shown)) == list(real)
    assert list(json.loads(shown)["value"]) == list(real["value"])


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_every_target_and_path_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", text)) <= targets
    named = re.findall(r"`((?:schemas|udfs|jobs|tests|docs|benchmarks)/[\w./*-]*)`", text)
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []
