"""Audits of a log that grows for a week, at drawn instants: an event keeps its key while it goes on, none is left out,
whenever the audits come, and each is new once."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from jobs import cli
from tests.builders.logs.by_hand import Event, commit, generation, write_log
from tests.make.log import T0
from tests.runs.ingested import rows

HOUR, DAY = 3_600, 86_400
WEEK = 7 * DAY
NUM_AUDITS = 4
# Seconds of T0 after midnight: what is said of a day needs to know where it begins.
MIDNIGHT = DAY - T0 // 1000 % DAY
RATE = 1
Key = tuple[str, str, datetime | None]
Row = dict[str, Any]


def week() -> list[Event]:
    events: list[Event] = [generation(group, 1, 0, {"m": [0, 1]}) for group in ("steady", "back", "silent")]
    for second in range(600, WEEK, 600):
        events.append(commit("steady", "t", 0, second, second * RATE))
        events.append(commit("back", "t", 0, second + 5, second * RATE))
        if second < 5 * DAY:
            events += [commit("silent", "t", each, second + 7, second * RATE) for each in (0, 1)]
    for day in range(6):
        # Around midnight, and twice that day.
        for second in (MIDNIGHT - 60, MIDNIGHT + 60, MIDNIGHT + 5 * HOUR, MIDNIGHT + 7 * HOUR):
            events.append(commit("back", "t", 0, day * DAY + second, 5))
        events += [commit("odd", "t", each, day * DAY + MIDNIGHT + 9 * HOUR * each, -7) for each in (0, 1)]
    # A client that comes and goes around midnight, by a member id of its own each time.
    events += [
        generation("storm", number + 1, 2 * DAY + MIDNIGHT - 1_500 + 100 * number,
                   {"a": [0], f"b-{number}": [1]} if number % 2 else {"a": [0, 1]})
        for number in range(30)
    ]  # fmt: skip
    events += [
        commit("moved", topic, 0, second, offset)
        for topic in ("t", "u")
        for second, offset in ((HOUR, 500), (3 * DAY, 100), (5 * DAY, 50))
    ]
    return sorted(events, key=lambda event: event[0])


def snapshots(path: Path, until: float) -> Path:
    """One an hour."""
    lines = [
        {"captured_at": T0 + second * 1000, "topics": [
            {"topic": name, "partitions": [{"partition": each, "log_start_offset": 0, "log_end_offset": second * RATE}
                                           for each in range(2)]}
            for name in ("t", "u")
        ]}
        for second in range(HOUR // 2, round(until) + 1, HOUR)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def audited(folder: Path, warehouse: Path, events: list[Event], until: float) -> dict[Key, Row]:
    """What it finds, by key."""
    folder.mkdir()
    source = write_log(folder / "log", {0: [event for event in events if event[0] <= until]})
    words = [
        "--source",
        source,
        "--snapshots",
        str(snapshots(folder / "s.jsonl", until)),
        "--report",
        str(folder / "r"),
    ]
    settings = folder / "own.toml"
    settings.write_text("[gate]\nmax_source_age_hours = 0\n")
    quiet = ["--warehouse", str(warehouse), "--config", str(settings), "--fail-on", "never", "--quiet"]
    assert cli.main(["audit", *words, *quiet]) == 0
    newest = max(row["run_id"] for row in rows(warehouse, "gate_runs"))
    found = [row for row in rows(warehouse, "findings") if row["run_id"] == newest]
    keys = {(row["kind"], row["subject"], row["at_time"]): row for row in found}
    assert len(keys) == len(found)
    return keys


def severity(row: Row) -> int:
    """More is worse."""
    return ("info", "warning", "critical").index(row["severity"])


def test_no_key_moves_in_a_week_of_audits(tmp_path: Path, rng: np.random.Generator) -> None:
    events = week()
    # One of them in the middle of the storm.
    drawn = rng.integers(DAY // 2, WEEK - HOUR, NUM_AUDITS - 3).tolist()
    instants = sorted([2 * DAY + MIDNIGHT - 100, 5 * DAY + 3 * HOUR, *drawn, WEEK])
    runs = [audited(tmp_path / f"{place}", tmp_path / "w", events, until) for place, until in enumerate(instants)]
    whole = audited(tmp_path / "whole", tmp_path / "other", events, WEEK)
    of_events = [{key for key in run if key[2] is not None} for run in runs]
    # Each kind by name first, so that a failure is short.
    reported = set().union(*of_events)
    assert {key[:2] for key in reported} == {key[:2] for key in whole if key[2] is not None}
    assert reported == {key for key in whole if key[2] is not None}
    kinds = {kind for kind, _, _ in reported}
    assert {"odd_commits", "rebalance_storm", "offsets_reset"} <= kinds
    # Each of a later run that an earlier one has is not new, unless it has become worse. All begin within the term.
    for number, run in enumerate(runs):
        for key in of_events[number]:
            before = [earlier[key] for earlier in runs[:number] if key in earlier]
            is_new = not before or severity(run[key]) > severity(before[-1])
            assert (key, run[key]["is_new"]) == (key, is_new)
            assert number in (0, len(runs) - 1) or key in runs[number + 1]
    assert sum(row["is_new"] for run in runs for row in run.values()) < sum(map(len, runs))
    # A condition is the same one as long as it lasts.
    silent = [run["group_silent", "silent", None] for run in runs if ("group_silent", "silent", None) in run]
    assert len(silent) >= 2
    assert len({row["first_seen_time"] for row in silent}) == 1
    assert not any(row["is_new"] for row in silent[1:])
