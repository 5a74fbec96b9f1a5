"""A broker's clock that steps back an hour, or forth and back again: nothing is lost, lag is what the slow model reads
from history, nobody is accused, and runs in any order of log and snapshots give what one run gives."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.stepping_clocks import (
    BEHIND,
    COMMIT_EVERY,
    HOUR,
    RATE,
    Stepping,
    write_log,
    write_snapshots,
    wrong_between,
    wrong_from,
)
from tests.oracles.history.at_instant import read
from tests.oracles.lag.lag_at_snapshots import Captured, SlowLag
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import assert_same, measured, replay, result_of

BACK, FORTH, STAYS_BACK = wrong_between(-HOUR), wrong_between(HOUR), wrong_from(-HOUR)
RIGHT = wrong_between(0)
CLOCKS = {
    "right": Stepping(RIGHT, RIGHT),
    "back and forth": Stepping(BACK, BACK),
    "back and forth, snapshots of a machine whose clock is right": Stepping(BACK, RIGHT),
    "forth and back": Stepping(FORTH, FORTH),
    "forth and back, snapshots of a machine whose clock is right": Stepping(FORTH, RIGHT),
    "back for good": Stepping(STAYS_BACK, STAYS_BACK),
    "back for good, snapshots of a machine whose clock is right": Stepping(STAYS_BACK, RIGHT),
}
# Each takes three runs. In the short form: where all clocks do the same, and not always right.
IN_ANY_ORDER = [
    name
    if name in ("back and forth", "forth and back", "back for good")
    else pytest.param(name, marks=pytest.mark.soak)
    for name in CLOCKS
]
RETENTION = timedelta(days=7)


Audited = Callable[[str], Path]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """By the clocks, the warehouse of one whole audit."""
    return cache(lambda name: audit(tmp_path_factory.mktemp("clock"), CLOCKS[name]))


def audit(folder: Path, clocks: Stepping) -> Path:
    (folder / "groupscope.toml").write_text("[gate]\nmax_source_age_hours = 0\n")
    source = write_log(folder / "log", clocks.log())
    snapshots = write_snapshots(folder / "snapshots.jsonl", clocks.snapshots())
    words = ["audit", "--warehouse", str(folder / "w"), "--config", str(folder / "groupscope.toml")]
    assert cli.main([*words, "--source", source, "--snapshots", str(snapshots)]) == ExitCode.CLEAN
    return folder / "w"


def commits(clocks: Stepping) -> int:
    return sum(len(batch.records) for batches in clocks.log().values() for batch in batches) - 1


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", CLOCKS)
def test_no_commit_is_lost_and_none_counts_twice(audited: Audited, name: str) -> None:
    history = rows(audited(name), "offset_history")
    assert sum(row["num_commits"] for row in history) == commits(CLOCKS[name])
    for group in ("steady", "alone"):
        for partition in (0, 1):
            of_key = [row for row in history if (row["group_id"], row["partition"]) == (group, partition)]
            in_order = sorted(of_key, key=lambda row: int(row["from_record_offset"]))
            offsets = [row["committed_offset"] for row in in_order]
            assert offsets == sorted(set(offsets))
            assert all(row["delta"] is None or row["delta"] > 0 for row in of_key)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", CLOCKS)
def test_lag_is_what_the_slow_model_reads_from_history(audited: Audited, name: str) -> None:
    warehouse = audited(name)
    models = (slow_lag(warehouse, CLOCKS[name], group) for group in ("alone", "steady"))
    wanted = [row for model in models for row in model.rows()]
    keys = list(wanted[0])
    result = [{key: row[key] for key in keys} for row in read(warehouse, "lag_points")]
    order = ("group_id", "snapshot_time", "topic", "partition")
    assert sorted(result, key=lambda row: [row[key] for key in order]) == wanted
    assert len(wanted) > 30


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", CLOCKS)
def test_a_lag_that_is_known_is_the_true_one(audited: Audited, name: str) -> None:
    """Groups are behind by so many messages after each commit, and by those of the time to the next one more."""
    known = [row["lag_raw"] for row in rows(audited(name), "lag_points") if row["lag_raw"] is not None]
    assert known or name.startswith("back for good")
    assert all(BEHIND <= lag <= BEHIND + RATE * COMMIT_EVERY for lag in known)


def slow_lag(warehouse: Path, clocks: Stepping, group: str) -> SlowLag:
    subscribed = {row["assignment_offset"]: row["subscribed_topics"] for row in read(warehouse, "generation_members")}
    (row,) = read(warehouse, "rebalances")
    topics = subscribed[row["assignment_offset"]]
    joined = {"group_id": row["group_id"], "topics": topics, "from_time": row["start_time"], "to_time": None}
    is_joined = group == row["group_id"]
    captured = {
        line["captured_at"] * 1000: {
            (topic["topic"], each["partition"]): Captured(
                topic["topic_id"], each["log_start_offset"], each["log_end_offset"]
            )
            for topic in line["topics"]
            for each in topic["partitions"]
        }
        for line in clocks.snapshots()
    }
    offsets = sorted(read(warehouse, "offset_history"), key=lambda row: int(row["from_record_offset"]))
    owned = read(warehouse, "ownership_intervals")
    return SlowLag(
        *([row for row in each if row["group_id"] == group] for each in (offsets, owned)),
        [joined] if is_joined else [], captured, clocks.commit_times(),
    )  # fmt: skip


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", CLOCKS)
def test_nobody_is_accused(audited: Audited, name: str) -> None:
    warehouse = audited(name)
    findings = rows(warehouse, "findings")
    # Whoever takes the snapshots, even a warning would be false.
    assert {row["severity"] for row in findings} <= {"info"}
    kinds = {row["kind"] for row in rows(warehouse, "replay_anomalies")}
    assert kinds == (set() if name == "right" else {"clock_went_back"})
    verdicts = {row["own_verdict"] for row in rows(warehouse, "group_verdicts")}
    assert verdicts <= {"OK", "UNKNOWN"}


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", CLOCKS)
def test_offsets_do_not_expire_sooner_than_by_the_clock_that_the_broker_has(audited: Audited, name: str) -> None:
    """It counts from the time that it wrote into the newest commit."""
    log = CLOCKS[name].log()["alone"]
    written = log[-1].records[-1].time
    forecast = [row for row in rows(audited(name), "expiry_forecast") if row["group_id"] == "alone"]
    assert len(forecast) == 2
    for row in forecast:
        assert row["expires_time"].timestamp() * 1000 == written + RETENTION.total_seconds() * 1000
    assert {row["expires_time"] for row in rows(audited(name), "expiry_forecast") if row["group_id"] == "steady"} == {
        None
    }


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_snapshots_in_any_order_over_several_runs_give_what_one_run_gives(
    audited: Audited, tmp_path: Path, rng: np.random.Generator, name: str
) -> None:
    log, lines = CLOCKS[name].log(), CLOCKS[name].snapshots()
    shuffled = [lines[place] for place in rng.permutation(len(lines))]
    cuts = sorted(rng.integers(1, len(lines), 2).tolist())
    for number, cut in enumerate([*cuts, len(lines)]):
        until = {group: cut * len(batches) // len(lines) for group, batches in log.items()}
        shutil.rmtree(tmp_path / "log", ignore_errors=True)
        source = write_log(tmp_path / "log", {group: batches[: until[group]] for group, batches in log.items()})
        snapshots = write_snapshots(tmp_path / f"{number}.jsonl", shuffled[:cut])
        ingest(tmp_path / "w", "--source", source, "--snapshots", snapshots)
        replay(tmp_path / "w")
        result_of("lag", tmp_path / "w")
    assert_same(measured(audited(name)), measured(tmp_path / "w"), name)
