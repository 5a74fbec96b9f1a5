"""Which events a run of the gate reports: all that no earlier run did, however late they came."""

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from jobs import cli
from jobs.gating.reported_events import MOST_RUNS, Reported, State, state_of
from tests.builders.logs.by_hand import commit, write_log
from tests.make.tables import make, time_of, write_run
from tests.runs.ingested import rows

pytestmark = pytest.mark.about("reported_events", "earlier_runs")


def reported(warehouse: Path, command: str, *flags: str) -> list[str]:
    """Topics of the resets that this run lists."""
    assert cli.main([command, "--warehouse", str(warehouse), "--fail-on", "never", "--quiet", *flags]) == 0
    newest = max(row["run_id"] for row in rows(warehouse, "runs"))
    found = [row for row in rows(warehouse, "findings") if row["run_id"] == newest]
    return [row["topic"] for row in found if row["kind"] == "offsets_reset"]


def test_audits_report_events_once(tmp_path: Path) -> None:
    """Each audit is of a longer copy of the log. The same one again has the same findings."""
    first = [commit("g", "t", 0, 0, 100), commit("other", "t", 0, 1, 5), commit("g", "t", 0, 2, 110)]
    back = [*first, commit("g", "t", 0, 30, 50), commit("other", "t", 0, 31, 6)]
    later = [*back, commit("g", "t", 0, 90, 60), commit("other", "t", 0, 91, 7)]
    for place, (log, expected) in enumerate([(first, []), (back, ["t"]), (back, ["t"]), (later, [])]):
        source = write_log(tmp_path / str(place), {0: log})
        flags = ("--source", source, "--report", str(tmp_path / "report"))
        assert reported(tmp_path / "w", "audit", *flags) == expected


class Gates:
    """Runs that add to the log up to a time, each followed by the gate."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number, self.warehouse = folder / "w", count(1), make(folder / "w")

    def after(self, until: str, *resets: str, snapshot: str | None = None, flags: tuple[str, ...] = ()) -> list[str]:
        """Times of the resets of group g that the gate lists."""
        known = {"from_time": time_of("-9h"), "to_time": time_of(until), "last_offset": 9}
        reset = {"group_id": "g", "kind": "shift"}
        number = next(self.number)
        write_run(self.warehouse, f"{number:08}-by-hand", {
            "history_coverage": [{**known, "offsets_partition": number}],
            "offset_resets": [{**reset, "topic": each, "at_time": time_of(each)} for each in resets],
            "group_state_intervals": [{"group_id": "other"}],
            "topic_snapshots": [] if snapshot is None else [{"topic": "t", "captured_time": time_of(snapshot)}],
        })  # fmt: skip
        return self.again(*flags)

    def again(self, *flags: str) -> list[str]:
        return reported(self.folder, "gate", *flags)


@pytest.fixture
def gates(tmp_path: Path) -> Gates:
    return Gates(tmp_path)


def test_a_snapshot_after_the_copy_of_the_log_hides_nothing_that_happened_between(gates: Gates) -> None:
    assert gates.after("-60m", snapshot="-50m") == []
    assert gates.after("-30m", "-61m", "-55m") == ["-55m"]


def test_what_runs_left_out_is_reported_by_the_next_one(gates: Gates) -> None:
    assert gates.after("-60m") == []
    assert gates.after("-50m", "-55m", flags=("--group", "^other$")) == []
    assert gates.again("--exclude-group", "^g$") == []
    assert gates.again("--until", "2026-11-21T02:00Z") == []
    assert gates.again("--since", "2026-11-21T02:08Z") == []
    # What begins where the first run ended leaves nothing out.
    assert gates.again("--since", "2026-11-21T02:00Z") == ["-55m"]
    assert gates.after("-30m") == []


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
