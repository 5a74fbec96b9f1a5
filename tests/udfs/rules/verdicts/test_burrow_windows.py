"""The windows of a whole log at once are those of the fold, commit by commit, and of the slow model."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from tests.oracles.lag.burrow import SlowRing, slow_group, slow_verdict
from tests.oracles.lag.burrow_fold import BurrowFold
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

GROUPS, PARTITIONS = ("a", "b", "skipped"), (0, 1, 2)
Key = tuple[str, int]
Log = tuple[list[Row], list[Row], list[Row], int]


def random_log(rng: np.random.Generator) -> Log:
    """Commits, ends of partitions 0 and 1 (partition 2 has none), deletions of groups, and the time to ask."""
    time, commits, deletions = 100.0, [], []
    for offset in range(int(rng.integers(0, 60))):
        time += float(rng.integers(0, 4)) / 2
        row = {
            "record_offset": offset, "record_time": time, "group_id": str(rng.choice(GROUPS)),
            "partition": int(rng.choice(PARTITIONS)), "commit_time": time - float(rng.integers(0, 5)) / 2,
            "committed_offset": int(rng.integers(-1, 30)), "is_transactional": bool(rng.random() < 0.2),
            "producer_id": 1,
        }  # fmt: skip
        if rng.random() < 0.1:
            row |= {"is_tombstone": True, "committed_offset": None, "commit_time": None}
        if rng.random() < 0.04:
            # Of a group's metadata, at an offset of its own in the log.
            kind = str(rng.choice(["deleted", "converted", "coverage_hole"]))
            deletions.append({"group_id": row["group_id"], "from_time": time, "to_time": time,
            "from_record_offset": offset,
                              "to_record_offset": offset, "ended_by": kind, "num_members": 0})  # fmt: skip
            continue
        commits.append(row)
    points = [
        end
        for partition in (0, 1)
        for end in ends(*((float(at), int(rng.integers(0, 40))) for at in
                          np.sort(rng.choice(np.arange(95, 200), int(rng.integers(0, 9)), replace=False))),
                        partition=partition)
    ]  # fmt: skip
    return commits, points, deletions, int(rng.integers(100, 190))


def random_rules(rng: np.random.Generator) -> BurrowRules:
    return BurrowRules(
        intervals=int(rng.integers(1, 6)), expire_group_s=int(rng.choice([30, 60, 604_800])),
        minimum_complete=float(rng.choice([0, 0.5])), allowed_lag=int(rng.choice([0, 3])),
        min_distance_s=int(rng.choice([0, 1, 2])), denied_groups="^skip",
    )  # fmt: skip


def as_history(log: Log, fold: BurrowFold) -> PartitionHistory:
    """With an offset that holds for every partition that the fold has met."""
    commits, points, deletions, as_of = log
    met = {(group_id, topic_partition) for group_id, group in fold.groups.items() for topic_partition in group.rings}
    met |= {(group_id, each) for group_id, without_end in fold.without_end.items() for each in without_end}
    held = [{"group_id": group_id, "partition": partition, "from_time": 0, "from_record_offset": 0,
    "committed_offset": 0}
            for group_id, (_, partition) in sorted(met)]  # fmt: skip
    return history(as_of, commits=commits, ends=points, group_state_intervals=deletions, offset_history=held)


def in_order(log: Log) -> list[tuple[str, Row]]:
    """Everything up to the time, as Burrow would meet it: ends before the commits of their time."""
    commits, points, deletions, as_of = log
    events = [(row["record_time"], 1, row["record_offset"], "commit", row) for row in commits]
    events += [(row["captured_time"], 0, 0, "poll", row) for row in points]
    events += [(row["to_time"], 1, row["to_record_offset"], "delete", row) for row in deletions
               if row["ended_by"] != "coverage_hole"]  # fmt: skip
    return [(kind, row) for time, _, _, kind, row in sorted(events, key=lambda event: event[:3]) if time <= as_of]


def folded(log: Log, rules: BurrowRules) -> BurrowFold:
    fold = BurrowFold(rules)
    for kind, row in in_order(log):
        if kind == "poll":
            fold.poll("t", row["partition"], row["log_end_offset"])
        elif kind == "delete":
            fold.delete_group(row["group_id"])
        elif not row.get("is_tombstone"):
            fold.commit(row["group_id"], ("t", row["partition"]), row["committed_offset"],
                        round(row["commit_time"] * 1000), row["record_offset"], log[3])  # fmt: skip
    return fold


def slow_verdicts(log: Log, rules: BurrowRules) -> dict[Key, str]:
    """Of the keys that hold an entry."""
    rings: dict[Key, SlowRing] = {}
    polled: dict[int, list[int]] = defaultdict(list)
    for kind, row in in_order(log):
        if kind == "poll":
            polled[row["partition"]].append(row["log_end_offset"])
        elif kind == "delete":
            rings = {key: ring for key, ring in rings.items() if key[0] != row["group_id"]}
        elif not row.get("is_tombstone") and row["group_id"] != "skipped" and polled[row["partition"]]:
            time = round(row["commit_time"] * 1000)
            if time >= (log[3] - rules.expire_group_s) * 1000:
                ring = rings.setdefault((row["group_id"], row["partition"]),
                                        SlowRing(rules.intervals, rules.min_distance_s))  # fmt: skip
                ring.add(row["committed_offset"], time, row["record_offset"], polled[row["partition"]][-1])
    return {
        key: slow_verdict(ring.entries, polled[key[1]][-rules.intervals :], log[3], rules.intervals,
                          rules.minimum_complete, rules.allowed_lag)
        for key, ring in rings.items()
    }  # fmt: skip


@pytest.mark.parametrize("rounds", [75, pytest.param(1500, marks=pytest.mark.soak)])
def test_verdicts_of_the_whole_log_are_those_of_the_fold_and_of_the_slow_model(
    rng: np.random.Generator, rounds: int
) -> None:
    num_entries = 0
    for _ in range(rounds):
        log, rules = random_log(rng), random_rules(rng)
        fold, slow = folded(log, rules), slow_verdicts(log, rules)
        rows = verdict_rows(as_history(log, fold), rules, OwnRules()).to_pylist()
        partitions = {(row["group_id"], row["partition"]): row for row in rows if row["partition"] is not None}
        assert {key: partitions[key]["burrow_verdict"] for key in slow} == slow
        assert {key for key, row in partitions.items() if row["burrow_lag"] is not None} == set(slow)
        num_entries += len(slow)
        for row in rows:
            if row["partition"] is None:
                compare_group(row, fold, log[3], {key: each for key, each in slow.items() if key[0] == row["group_id"]})
    assert num_entries > rounds // 2


def compare_group(row: Row, fold: BurrowFold, now: int, slow: dict[Key, str]) -> None:
    status = fold.status(row["group_id"], now)
    assert (row["burrow_verdict"], row["burrow_rule"]) == (status.verdict, status.rule)
    assert (row["burrow_lag"] or 0) == status.total_lag
    assert row["burrow_complete"] == pytest.approx(status.complete)
    if slow and row["burrow_verdict"] != "UNKNOWN":
        assert row["burrow_verdict"] == slow_group(list(slow.values()))


def rules_of(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["burrow_verdict"], row["burrow_rule"]) for row in rows]


def test_without_a_snapshot_nothing_is_ok() -> None:
    rows = verdict_rows(history(40, **committed((10, 5), (20, 9))), BurrowRules(), OwnRules()).to_pylist()
    assert rules_of(rows) == [("UNKNOWN", "no_end_offsets"), ("UNKNOWN", "no_end_offsets")]
    assert [row["burrow_lag"] for row in rows] == [None, None]


def test_commits_before_the_first_snapshot_leave_it_unknown() -> None:
    given = history(40, **committed((10, 5), (20, 9)), ends=ends((30, 9)))
    assert rules_of(verdict_rows(given, BurrowRules(), OwnRules()).to_pylist()) == [("UNKNOWN", "no_end_offsets")] * 2


def test_a_group_of_which_burrow_counts_nothing_is_notfound() -> None:
    rows = verdict_rows(
        history(700_000, **committed((10, 5)), ends=ends((5, 5), (699_999, 7))), BurrowRules(), OwnRules()
    ).to_pylist()
    assert rules_of(rows) == [("OK", "no_commits"), ("NOTFOUND", "no_group")]


def test_pending_and_aborted_commits_count_for_burrow_and_not_for_us() -> None:
    commits = committed((10, 5), (12, 7))
    pending = [
        {"record_offset": 200 + place, "record_time": time, "commit_time": time, "committed_offset": 90,
         "is_transactional": True, "producer_id": 1}
        for place, time in enumerate((20, 30))
    ]  # fmt: skip
    given = history(
        40, commits=commits["commits"] + pending, offset_history=commits["offset_history"],
        ends=ends((1, 5), (15, 50), (35, 90)), group_state_intervals=[{}],
        transactions=[{"producer_id": 1, "first_offset": 200, "outcome": "open"}],
    )  # fmt: skip
    partition, _ = verdict_rows(given, BurrowRules(), OwnRules()).to_pylist()
    assert (partition["burrow_lag"], partition["lag"]) == (0, 83)
    assert (partition["evidence_first_offset"], partition["evidence_last_offset"]) == (100, 201)
