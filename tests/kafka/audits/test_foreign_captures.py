"""Logs and snapshots of two real brokers, which have topics of the same names: in any order, they do not get into one
warehouse together, and what is wrong there can be taken out."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.audited_sample import SAMPLE
from tests.kafka.outages import outages_of
from tests.kafka.releases import KAFKA_4_3
from tests.runs.ingested import ingest, rows
from tests.runs.refused import refused, unchanged

pytestmark = pytest.mark.broker

SNAPSHOTS = SAMPLE / "snapshots.jsonl"


def accepted(warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    """The result of an ingest that nothing refuses."""
    result = ingest(warehouse, *arguments)
    assert result["exit_code"] == ExitCode.CLEAN, result
    return result


def run_command_in(line: str) -> None:
    (command,) = re.findall("`groupscope (maintain .*?)`", line)
    assert cli.main(shlex.split(command)) == ExitCode.CLEAN


def test_older_snapshots_are_refused_by_the_topics_of_commits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outages = outages_of(KAFKA_4_3)
    log = ("--source", f"segments:{outages.log_dir}")
    first = tmp_path / "first"
    assert "topic clicks has id" in refused(
        tmp_path / "new", capsys, ExitCode.UNREADABLE_INPUT, *log, "--snapshots", SNAPSHOTS
    )
    accepted(first, "--snapshots", SNAPSHOTS)
    with unchanged(first):
        line = refused(first, capsys, ExitCode.UNREADABLE_INPUT, *log, "--snapshots", outages.snapshots)
    assert "and its topics have the ids that commits name, but 21 snapshots captured from 2026-11-21T17:36:27" in line
    assert "--cluster" not in line
    run_command_in(line)
    accepted(first, *log, "--snapshots", outages.snapshots)
    with unchanged(first):
        refused(first, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", SNAPSHOTS)
    assert len({row["offsets_topic_id"] for row in rows(first, "cluster_snapshots")}) == 1


def test_newer_snapshots_give_way_to_those_whose_topics_commits_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the log alone, all topics may have been deleted and created again since its last commit."""
    foreign, log = outages_of(KAFKA_4_3).snapshots, ("--source", f"segments:{SAMPLE}")
    warehouse = tmp_path / "w"
    accepted(warehouse, *log, "--snapshots", foreign)
    line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, *log, "--snapshots", SNAPSHOTS)
    assert f"{SNAPSHOTS}: the id of topic __consumer_offsets is " in line and "--cluster" not in line
    run_command_in(line)
    accepted(warehouse, *log, "--snapshots", SNAPSHOTS)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, *log, "--snapshots", foreign)
    assert line.startswith(f"{foreign}: ") and "and those are of the log there" in line
