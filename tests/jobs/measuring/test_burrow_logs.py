"""Burrow's verdicts of whole logs of raw commits, from segments to `group_verdicts`: the published vectors, each rule
at its bounds, and what enters a window."""

from pathlib import Path

import pytest

from tests.builders.generated.topics import written
from tests.builders.logs.burrow_windows import ASKED_MS, NOW_MS, BurrowLog
from tests.builders.logs.by_hand import generation
from tests.oracles.lag.burrow_vectors import BOUNDS, VECTORS, Entry, entries
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

Said = dict[str, tuple[str, str]]
Settings = dict[str, float]
# Lags of 0, 9 and 12: the zero excuses the group as long as its entry is there.
EXCUSED: list[Entry] = [(100, 10_000, 0), (100, 20_000, 9), (100, 30_000, 12)]
# Commits come in the order of the log here, so that each has its lag.
IN_ORDER = [vector for vector in VECTORS if "?" not in vector[0]]
AT_BOUNDS = [case for case in BOUNDS if case[0] and all(lag is not None for *_, lag in case[0])]


def said(warehouse: Path, settings: Settings) -> Said:
    """Verdict and rule by group."""
    config = warehouse.with_name("groupscope.toml")
    config.write_text("[burrow]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()))
    result_of("lag", warehouse, "--full", "--as-of", str(ASKED_MS), "--config", config)
    return {
        row["group_id"]: (row["burrow_verdict"], row["burrow_rule"])
        for row in rows(warehouse, "group_verdicts")
        if row["partition"] is not None
    }


def replayed(folder: Path, log: BurrowLog) -> Path:
    snapshots = log.write(folder / "log")
    ingest(folder / "w", "--source", f"segments:{folder / 'log'}", "--snapshots", snapshots)
    replay(folder / "w")
    return folder / "w"


def test_raw_commits_get_the_verdicts_of_the_published_vectors(tmp_path: Path) -> None:
    log = BurrowLog()
    for number, (text, polls, now, _, _) in enumerate(IN_ORDER):
        in_ms = [(offset, time * 1000, lag) for offset, time, lag in entries(text)]
        log.window(f"vector-{number}", in_ms, polls, now)
    warehouse = replayed(tmp_path, log)
    for allowed in sorted({vector[4] for vector in IN_ORDER}):
        result = said(warehouse, {"allowed_lag": allowed})
        wanted = {f"vector-{n}": verdict for n, (*_, verdict, lag) in enumerate(IN_ORDER) if lag == allowed}
        assert {name: result[name][0] for name in wanted} == wanted


def test_raw_commits_at_the_bounds_of_each_rule(tmp_path: Path) -> None:
    log = BurrowLog()
    for number, (given, polls, now, _, _) in enumerate(AT_BOUNDS):
        log.window(f"bound-{number}", given, polls, now)
    warehouse = replayed(tmp_path, log)
    for settings in {repr(case[3]): case[3] for case in AT_BOUNDS}.values():
        result = said(warehouse, settings)
        wanted = {f"bound-{n}": rule for n, (*_, asked, rule) in enumerate(AT_BOUNDS) if asked == settings}
        assert {name: result[name][1] for name in wanted} == wanted


@pytest.fixture(scope="module")
def entering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What enters a window, and what leaves it."""
    log = BurrowLog()
    log.window("excused", EXCUSED, [112], 40)
    log.window("near", [(100, 10_000, 0), (100, 10_999, 9), (100, 30_000, 12)], [112], 40)
    log.window("far", [(100, 10_000, 0), (100, 11_000, 9), (100, 30_000, 12)], [112], 40)
    log.window("time-kept", [(100, 10_000, 9), (110, 20_000, 9), (120, 20_999, 9)], [129], 31)
    log.window("offset-deleted", EXCUSED, [112], 40)
    log.commit("offset-deleted", None, 0, NOW_MS - 15_000)
    log.window("group-deleted", EXCUSED, [112], 40)
    second = (NOW_MS - 35_000 - 1_795_000_000_000) / 1000
    log.records.append((NOW_MS - 35_000, generation("group-deleted", 1, second, {"m": []})[1][0]))
    log.records.append((NOW_MS - 25_000, written(2, {"group": "group-deleted"}, None)))
    return replayed(tmp_path_factory.mktemp("entering"), log)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, {"excused": "lag_was_allowed", "offset-deleted": "lag_was_allowed", "group-deleted": "same_offset"}),
        # Ten seconds before the first commit is asked for none: that one still counts.
        ({"expire_group_s": 30}, {"excused": "lag_was_allowed"}),
        ({"expire_group_s": 29}, {"excused": "same_offset"}),
        ({"intervals": 3}, {"excused": "lag_was_allowed"}),
        ({"intervals": 2}, {"excused": "same_offset"}),
        # Over the entry before it, or an entry of its own.
        ({"min_distance_s": 1}, {"near": "same_offset", "far": "lag_was_allowed", "time-kept": "silent"}),
        ({"min_distance_s": 0}, {"near": "lag_was_allowed", "far": "lag_was_allowed", "time-kept": "never_fell"}),
    ],
)
def test_what_enters_the_window_of_raw_commits(entering: Path, settings: Settings, wanted: dict[str, str]) -> None:
    result = said(entering, settings)
    assert {name: result[name][1] for name in wanted} == wanted
