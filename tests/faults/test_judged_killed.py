"""Runs of `lag` and `gate` that are killed at any step on this machine: the next run leaves what an undisturbed one
does. Other engines and storages: test_killed_anywhere.py."""

import random
import shutil
import signal

import pytest

from jobs import cli
from jobs.storage.failpoints import FAILPOINTS
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, ingest
from tests.runs.replayed_logs import GATED, MEASURED, assert_same, killed_at, recompute, replay, row_texts

SAMPLE = ROOT / "data" / "sample"
WORDS = {
    "lag": (),
    # Otherwise verdicts would depend on the hour of the test.
    "gate": ("--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never"),
}
BEFORE = {"lag": "assignments", "gate": "lag"}
WRITTEN = {"lag": MEASURED, "gate": GATED}
# The first and the last table of a job that a run commits, beside the steps of every job.
POINTS = {
    "lag": (*FAILPOINTS, "table_committed:lag_points", "table_committed:measured_partitions"),
    # It has no tasks, which are what passes the first one.
    "gate": (*FAILPOINTS[1:], "table_committed:gate_metrics", "table_committed:gated_inputs"),
}


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """By job, the warehouse that it and those before it leave."""
    found = {name: tmp_path_factory.mktemp(name) / "w" for name in ("assignments", "lag", "gate")}
    source = ("--source", f"segments:{SAMPLE}", "--snapshots", SAMPLE / "snapshots.jsonl")
    ingest(found["assignments"], *source, "--cluster", "sample")
    replay(found["assignments"])
    recompute(found["assignments"])
    for job in WORDS:
        shutil.copytree(found[BEFORE[job]], found[job])
        run(job, found[job])
    return found


def run(job, warehouse):
    assert cli.main([job, "--warehouse", str(warehouse), *WORDS[job]]) == ExitCode.CLEAN


def check(left, warehouse, job, point):
    shutil.copytree(left[BEFORE[job]], warehouse)
    assert killed_at(point, job, warehouse, *WORDS[job]) == -signal.SIGKILL
    run(job, warehouse)
    made = row_texts(warehouse, WRITTEN[job])
    # The sample has no odd commits.
    assert all(found for name, found in made.items() if name != "odd_commits")
    assert_same(row_texts(left[job], WRITTEN[job]), made, point)
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


@pytest.mark.drawn(1)
@pytest.mark.parametrize("job", WORDS)
def test_a_run_that_is_killed_at_some_step_is_finished_by_the_next(left, tmp_path, job, seed):
    check(left, tmp_path / "w", job, random.Random(f"{seed} {job}").choice(POINTS[job]))


@pytest.mark.soak
@pytest.mark.parametrize(("job", "point"), [(job, point) for job in WORDS for point in POINTS[job]])
def test_a_run_that_is_killed_at_any_step_is_finished_by_the_next(left, tmp_path, job, point):
    check(left, tmp_path / "w", job, point)
