"""Which events a run of the gate reports, and which of its findings are new."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.gating.earlier_runs import reported_before
from jobs.gating.findings import Finding, Reported, finding_rows
from schemas.tables import TABLES
from tests.make.tables import BY_HAND, NOW, Row, make, time_of, write_run
from tests.runs.ingested import rows

pytestmark = pytest.mark.about("earlier_runs", "findings")

DAY = timedelta(days=1)
SEVERITIES = ("info", "warning", "critical")
Key = tuple[str, datetime | None]


@dataclass
class Runs:
    """Runs of the gate that are written by hand, and what a slow model says of the findings of each."""

    folder: Path
    # As-of, number, whether it is whole, and severity and first time of each finding.
    known: list[tuple[int, int, bool, dict[Key, tuple[str, int]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.warehouse = make(self.folder)

    def add(self, hours: int, found: Mapping[Key, str], *, is_whole: bool = True) -> dict[Key, tuple[bool, int]]:
        """Of a run as of so many hours: which of its findings are new, and the as-of of the run that first had each."""
        as_of, number = NOW + timedelta(hours=hours), len(self.known) + 1
        about = {"cluster": "a", "run_id": f"{number:08}"}
        some = [
            Finding("offsets_reset", severity, "m", "SELECT 1", subject=subject, at_time=at_time)
            for (subject, at_time), severity in found.items()
        ]
        reported: Any = reported_before(SimpleNamespace(warehouse=self.warehouse, cluster="a"), as_of)  # type: ignore[arg-type]
        made = finding_rows(some, about, as_of, reported, ())
        suite = {**about, "suite": "s", "narrowed_by": None if is_whole else "--group x"}
        others = frozenset(TABLES) - {"findings", "gate_runs"}
        run = {"job": "gate", "as_of_time": int(as_of.timestamp() * 1000)}
        write_run(self.warehouse, about["run_id"], {"findings": made, "gate_runs": [suite]}, absent=others, about=run)
        expected = self.expected(hours, found)
        first = {key: (severity, expected[key][1]) for key, severity in found.items()}
        self.known.append((hours, number, is_whole, first))
        said = {
            (row["subject"], row["at_time"]): (row["is_new"], (row["first_seen_time"] - NOW) // timedelta(hours=1))
            for row in made
        }
        assert said == expected
        return said

    def expected(self, hours: int, found: Mapping[Key, str]) -> dict[Key, tuple[bool, int]]:
        in_order = sorted(self.known, key=lambda run: run[:2])
        earlier = [run for then, _, is_whole, run in in_order if is_whole and then < hours]
        result = {}
        for key, severity in found.items():
            # A condition that the last run did not have has ended.
            asked = earlier if key[1] is not None else earlier[-1:]
            said = [run[key] for run in asked if key in run]
            is_new = not said or SEVERITIES.index(severity) > SEVERITIES.index(said[-1][0])
            result[key] = is_new, min([hours, *(first for _, first in said)])
        return result


RESET, SILENT = ("g", NOW), ("g", None)


def test_what_an_earlier_run_reported_is_not_new_unless_it_is_worse_or_has_come_back(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    assert runs.add(1, {RESET: "warning", SILENT: "warning"}) == {RESET: (True, 1), SILENT: (True, 1)}
    assert runs.add(2, {RESET: "warning", SILENT: "warning"}) == {RESET: (False, 1), SILENT: (False, 1)}
    # A narrowed run left it out, and is not asked.
    runs.add(3, {}, is_whole=False)
    assert runs.add(4, {RESET: "critical", SILENT: "critical"}) == {RESET: (True, 1), SILENT: (True, 1)}
    assert runs.add(5, {RESET: "warning", ("g", NOW + DAY): "warning"})["g", NOW + DAY] == (True, 5)
    # Run 5 did not report that the group is silent. The event may have rested.
    runs.add(6, {})
    assert runs.add(7, {RESET: "warning", SILENT: "critical"}) == {RESET: (False, 1), SILENT: (True, 7)}
    # Once more as of the same time, and as of an earlier one.
    assert runs.add(7, {RESET: "warning", SILENT: "critical"}) == {RESET: (False, 1), SILENT: (True, 7)}
    assert runs.add(5, {SILENT: "critical"}) == {SILENT: (False, 1)}
    # What only a narrowed run reported is new to a whole one.
    runs.add(8, {("h", None): "warning"}, is_whole=False)
    assert runs.add(9, {("h", None): "warning"}) == {("h", None): (True, 9)}
    # The last run is that of the latest as-of, also if another one came after it.
    late = ("h", NOW + DAY)
    assert runs.add(12, {late: "warning"}) == {late: (True, 12)}
    assert runs.add(11, {late: "critical"}) == {late: (True, 11)}
    assert runs.add(13, {late: "critical"}) == {late: (True, 11)}
    assert runs.add(14, {late: "critical"}) == {late: (False, 11)}


def test_drawn_runs_agree_with_a_slow_model(tmp_path: Path, rng: np.random.Generator) -> None:
    runs = Runs(tmp_path)
    keys = [RESET, SILENT, ("h", NOW), ("h", None), ("g", NOW + DAY)]
    for _ in range(14):
        found = {key: SEVERITIES[rng.integers(3)] for key in keys if rng.random() < 0.6}
        runs.add(int(rng.integers(8)), found, is_whole=bool(rng.random() < 0.7))


@pytest.mark.parametrize(("before", "is_new"), [("group_down", False), ("group_silent", True)])
def test_what_is_left_of_an_outage_is_no_new_finding(before: str, is_new: bool) -> None:
    absence = Finding("long_unread", "warning", "no members", "SELECT 1", group_id="g", at_time=NOW - DAY)
    known = {(before, "g", None): Reported(NOW - DAY, "critical")}
    (row,) = finding_rows([absence], {"cluster": "c", "run_id": "r"}, NOW, known, ())
    assert row["is_new"] is is_new


class Gates:
    """Runs that add to the log up to a time, each followed by the gate."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.warehouse = folder / "w", make(folder / "w")
        self.settings = folder / "own.toml"
        gate = 'max_source_age_hours = 0\nexclude_groups = ["^own-"]\n'
        self.settings.write_text(f"[tables]\nsmall_files = 4\n[gate]\n{gate}")

    def after(self, until: str, *resets: str, group: str = "g", flags: tuple[str, ...] = ()) -> tuple[int, list[str]]:
        """The exit code of the gate, and the times of the resets that it lists; `+` marks those that are new."""
        known = {"from_time": time_of("-30d"), "to_time": time_of(until), "last_offset": 9}
        reset = {"group_id": group, "kind": "shift"}
        number = self.warehouse.next_sequence()
        write_run(self.warehouse, BY_HAND.format(number), {
            "history_coverage": [{**known, "offsets_partition": number}],
            "offset_resets": [{**reset, "topic": each, "at_time": time_of(each)} for each in resets],
            "group_state_intervals": [{"group_id": "other"}] if number == 1 else [],
            "topic_snapshots": [{"topic": "t", "captured_time": time_of(until)}],
        })  # fmt: skip
        return self.again(*flags)

    def again(self, *flags: str) -> tuple[int, list[str]]:
        result = self.folder.with_name("result.json")
        words = ["gate", "--warehouse", str(self.folder), "--config", str(self.settings), "--quiet"]
        code = cli.main([*words, "--result-file", str(result), *flags])
        self.result = json.loads(result.read_text())
        newest = max(row["run_id"] for row in rows(self.folder, "gate_runs"))
        found = [row for row in rows(self.folder, "findings") if row["run_id"] == newest]
        resets = sorted((row for row in found if row["kind"] == "offsets_reset"), key=lambda row: row["at_time"])
        return code, [f"{'+' if row['is_new'] else ''}{row['topic']}" for row in resets]

    def view(self, capfd: pytest.CaptureFixture[str]) -> list[Row]:
        capfd.readouterr()
        statement = "SELECT * FROM v_findings WHERE kind = 'offsets_reset'"
        assert cli.main(["sql", statement, "--warehouse", str(self.folder), "--format", "json"]) == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_an_event_stays_a_finding_for_its_term(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gates = Gates(tmp_path)
    new = ("--fail-on", "warning-new")
    assert gates.after("-10d", flags=new) == (0, [])
    # The groups of `exclude_groups` are left out of a run that is a whole one.
    assert gates.after("-9d", "-9.5d", group="own-g", flags=new) == (0, [])
    assert (gates.result["num_left_out"], gates.result["narrowed_by"]) == (1, None)
    assert gates.after("-8d", "-8.5d", flags=new) == (20, ["+-8.5d"])
    assert (gates.result["verdict"], gates.result["num_new"], gates.result["num_counting"]) == ("findings", 1, 1)
    # The same as-of again, also after something else of that time has changed.
    assert gates.again(*new) == (20, ["+-8.5d"])
    gates.settings.write_text(gates.settings.read_text() + "storm_gap_s = 99\n")
    assert gates.again(*new) == (20, ["+-8.5d"])
    # Narrowed runs between change nothing.
    assert gates.again("--group", "^other$", *new) == (0, [])
    assert gates.after("-7d", flags=("--since", "2026-11-13", *new)) == (0, [])
    assert gates.result["narrowed_by"] == "--since 2026-11-13T00:00:00Z"
    (row,) = gates.view(capfd)
    assert (row["topic"], row["narrowed_by"], row["is_new"], row["age_ms"]) == ("-8.5d", None, True, 12 * 3_600_000)
    capfd.readouterr()
    assert gates.again(*new) == (0, ["-8.5d"])
    assert "Exit code     0: findings of this severity, but none is new\n" in capfd.readouterr().out
    assert (gates.result["verdict"], gates.result["num_new"], gates.result["exit_code"]) == ("findings", 0, 0)
    # One more reset of the group is another event.
    assert gates.after("-6d", "-6.5d", flags=new) == (20, ["-8.5d", "+-6.5d"])
    assert gates.again("--fail-on", "critical-new") == (0, ["-8.5d", "+-6.5d"])
    # Times before now are before the as-of time, which is that of the data.
    assert gates.again("--since", "13h ago") == (0, ["+-6.5d"])
    assert gates.again("--since", "11h ago") == (0, [])
    assert gates.again("--fail-on", "warning") == (20, ["-8.5d", "+-6.5d"])
    assert gates.after("-1.5d", flags=new) == (0, ["-6.5d"])
    gates.settings.write_text(gates.settings.read_text() + "event_term_days = 3\n")
    assert gates.again(*new) == (0, [])
    # Each run that judged anew added a file, and some of these were merged.
    judged = {row["run_id"] for row in rows(gates.folder, "gate_runs")}
    assert len(judged) == 13 and len(DeltaTable(str(gates.folder / "gate_runs")).file_uris()) <= 4
