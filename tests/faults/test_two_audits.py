"""Two audits of one log at once on one warehouse: one works while the other waits, and the tables are those of one."""

import os
import subprocess
import sys
import uuid

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.storage.places.addresses import storage_at
from tests.builders.storages.kinds import ELSEWHERE, fetched
from tests.builders.storages.s3_server import options_for
from tests.runs.ingested import ROOT, history
from tests.runs.replayed_logs import ASSIGNMENTS, GATED, HISTORY, MEASURED, assert_same, row_texts
from tests.sample.part import sample_part

__all__ = ["sample_part"]

TABLES = (*HISTORY, *ASSIGNMENTS, *MEASURED, *GATED)
SETTINGS = ROOT / "conf" / "sample.toml"
SNAPSHOTS = ROOT / "data" / "sample" / "snapshots.jsonl"


@pytest.fixture(params=["local", *ELSEWHERE])
def place(request, tmp_path, monkeypatch):
    """That processes reach as people do, by the environment."""
    if request.param == "local":
        return str(tmp_path / "w")
    if request.param == "hdfs":
        return f"{request.getfixturevalue('hdfs')}/{uuid.uuid4().hex}/w"
    for name, value in options_for(request.getfixturevalue("s3")).values:
        monkeypatch.setenv(name.upper(), value)
    return f"s3://bucket/{uuid.uuid4().hex}/w"


def words(place, source, report):
    found = ["audit", "--warehouse", place, "--source", f"segments:{source}", "--snapshots", str(SNAPSHOTS)]
    found += ["--config", str(SETTINGS), "--fail-on", "never"]
    return [*found, "--report", str(report), "--workers", "1"]


def begun(place, source, report):
    command = [sys.executable, "-m", "jobs.cli", *words(place, source, report)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def ended(audits):
    lines = [each.communicate(timeout=300)[1] for each in audits]
    assert [each.returncode for each in audits] == [0] * len(audits), lines
    return lines


@pytest.mark.drawn(1)
def test_two_audits_at_once_leave_what_one_leaves(place, sample_part, tmp_path):
    assert cli.main(words(str(tmp_path / "one"), sample_part, tmp_path / "report")) == 0
    lines = ended([begun(place, sample_part, tmp_path / f"report-{number}") for number in range(2)])
    assert any(f"{place}: waiting for " in each for each in lines), lines
    both = fetched(storage_at(place, options_of(Settings())), "", tmp_path / "fetched")
    assert history(both) == history(tmp_path / "one")
    assert_same(row_texts(tmp_path / "one", TABLES), row_texts(both, TABLES), place)
