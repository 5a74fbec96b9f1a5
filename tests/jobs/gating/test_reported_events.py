"""Which events a run of the gate reports: all that no earlier run did, however late they came."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs import cli
from jobs.gating.reported_events import MOST_RUNS, Reported, State, state_of
from schemas.words.exit_codes import ExitCode
from tests.builders.generated.topics import written
from tests.make.log import T0, Kept, LoggedBatch, write
from tests.runs.ingested import rows

Commit = tuple[int, str, int]
# Seconds, group and offset of commits, one offset after the other. The second part moves group g back.
FIRST: list[Commit] = [(0, "g", 100), (1, "other", 5), (2, "g", 110)]
BACK: list[Commit] = [(30, "g", 50), (31, "other", 6)]
LATER: list[Commit] = [(90, "g", 60), (91, "other", 7)]

TOPIC = {"topic": "t", "partitions": [{"partition": 0, "log_start_offset": 0, "log_end_offset": 200}]}


def write_log(folder: Path, commits: Sequence[Commit]) -> Path:
    batches = []
    for offset, (seconds, group, committed) in enumerate(commits):
        value = {"offset": committed, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + seconds * 1000}
        pair = written(1, {"group": group, "topic": "t", "partition": 0}, value, 3)
        batches.append(LoggedBatch(offset, offset, (Kept(offset, T0 + seconds * 1000, *pair),)))
    write(folder, 0, batches)
    return folder


class Audits:
    """Audits of copies of one log, each longer than the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def audit(self, commits: Sequence[Commit], *flags: str, snapshot: int | None = None) -> list[str]:
        """Groups of which the run says that their offsets were reset. `snapshot`: seconds."""
        self.number += 1
        words = ["--source", f"segments:{write_log(self.folder / str(self.number), commits)}", *flags]
        if snapshot is not None:
            path = self.folder / f"{self.number}.jsonl"
            path.write_text(json.dumps({"captured_at": T0 + snapshot * 1000, "topics": [TOPIC]}) + "\n")
            words += ["--snapshots", str(path)]
        return self.run("audit", *words, "--report", str(self.folder / "report"))

    def run(self, name: str, *words: str) -> list[str]:
        warehouse = self.folder / "w"
        assert (
            cli.main([name, "--warehouse", str(warehouse), "--fail-on", "never", "--quiet", *words]) == ExitCode.CLEAN
        )
        found = rows(warehouse, "findings")
        newest = max(row["run_id"] for row in rows(warehouse, "runs"))
        return [row["group_id"] for row in found if row["run_id"] == newest and row["kind"] == "offsets_reset"]


@pytest.fixture
def audits(tmp_path: Path) -> Audits:
    return Audits(tmp_path)


def test_events_are_reported_once(audits: Audits) -> None:
    assert audits.audit(FIRST) == []
    assert audits.audit(FIRST + BACK) == ["g"]
    # The same as-of time again: the same findings.
    assert audits.audit(FIRST + BACK) == ["g"]
    assert audits.audit(FIRST + BACK + LATER) == []


def test_a_snapshot_after_the_copy_of_the_log_hides_nothing_that_happened_between(audits: Audits) -> None:
    assert audits.audit(FIRST, snapshot=60) == []
    assert audits.audit(FIRST + BACK + LATER) == ["g"]


@pytest.mark.parametrize(
    "flags",
    [("--group", "^other$"), ("--exclude-group", "^g$"), ("--since", "2100-01-01"), ("--until", "1970-01-02")],
    ids=lambda flags: str(flags[0]),
)
def test_what_a_run_left_out_is_reported_by_the_next_one(audits: Audits, flags: tuple[str, str]) -> None:
    assert audits.audit(FIRST) == []
    flags = (flags[0], "2200-01-01") if flags[0] == "--since" else flags
    until = ("--until", "2200-01-02") if flags[0] == "--since" else ()
    assert audits.audit(FIRST + BACK, *flags, *until) == []
    assert audits.audit(FIRST + BACK + LATER) == ["g"]


def times(*seconds: int) -> list[datetime]:
    return [datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=each) for each in seconds]


def test_a_run_as_of_an_earlier_time_looks_only_at_runs_before_that_time() -> None:
    first, second, third = times(0, 10, 20)
    state = State().after("a", Reported(first, first)).after("b", Reported(third, second)).after("c", None)
    assert (state.input_hash, state.since(first), state.since(second), state.since(third)) == ("c", None, first, first)
    assert state.since(third + timedelta(seconds=1)) == second
    assert state_of(state.text(), list) == state
    again = state.after("d", Reported(third, third))
    assert [each.through for each in again.reported] == [first, third]


def test_only_so_many_runs_are_remembered() -> None:
    state = State()
    for each in times(*range(MOST_RUNS + 5)):
        state = state.after("a", Reported(each, each))
    assert len(state.reported) == MOST_RUNS and state.since(times(5)[0]) is None


def test_what_an_older_release_wrote_counts_as_reported_up_to_its_as_of_times() -> None:
    early, late = times(0, 10)
    state = state_of("3f" * 32, lambda: [late, early])
    assert (state.input_hash, state.since(late), state.since(times(11)[0])) == ("3f" * 32, early, late)
