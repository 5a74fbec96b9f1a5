"""Burrow's rules one by one, and what enters its rings."""

import numpy as np
import pytest

from tests.oracles.lag.burrow import SlowRing, slow_group, slow_verdict
from tests.oracles.lag.burrow_fold import BurrowFold
from tests.oracles.lag.burrow_vectors import BOUNDS, VECTORS, Entry, entries
from udfs.rules.verdicts.burrow_evaluation import NO_END, UNKNOWN_LAG, BurrowRules, Windows, partition_rules

TP = ("t", 0)


KNOWN_LAGS = [vector for vector in VECTORS if "?" not in vector[0]]


def polled(fold: BurrowFold, ends: tuple[int, ...]) -> None:
    """Until the ring of ends holds nothing else."""
    for end in ends:
        for _ in range(10 // len(ends)):
            fold.poll(*TP, end)


@pytest.mark.parametrize(("written", "ends", "now", "verdict", "allowed"), KNOWN_LAGS)
def test_the_fold_says_what_burrow_says(
    written: str, ends: tuple[int, ...], now: int, verdict: str, allowed: int
) -> None:
    fold = BurrowFold(BurrowRules(allowed_lag=allowed))
    for order, (offset, time, lag) in enumerate(entries(written)):
        assert lag is not None
        fold.poll(*TP, offset + lag)
        fold.commit("g", TP, offset, time * 1000, order, time)
    polled(fold, ends)
    assert fold.status("g", now).partitions[TP][0] == verdict


@pytest.mark.parametrize(("written", "ends", "now", "verdict", "allowed"), VECTORS)
def test_the_slow_model_says_what_burrow_says(
    written: str, ends: tuple[int, ...], now: int, verdict: str, allowed: int
) -> None:
    ring = [[offset, time * 1000, order, lag] for order, (offset, time, lag) in enumerate(entries(written))]
    assert slow_verdict(ring, list(ends), now, allowed=allowed) == verdict


def test_a_window_with_only_unknown_lags_is_stalled_or_warned_about() -> None:
    windows = window([(100, 10_000, None), (110, 20_000, None)], [130])
    assert partition_rules(windows, BurrowRules(), 25).tolist() == ["never_fell"]
    windows = window([(100, 10_000, None), (100, 20_000, None)], [130])
    assert partition_rules(windows, BurrowRules(), 25).tolist() == ["same_offset"]


def window(given: list[tuple[int, int, int | None]], ends: list[int]) -> Windows:
    pad = [(0, 0, None)] * (10 - len(given)) + given
    return Windows(
        np.array([[offset for offset, _, _ in pad]]), np.array([[time for _, time, _ in pad]]),
        np.array([[UNKNOWN_LAG if lag is None else lag for _, _, lag in pad]]), np.array([len(given)]),
        np.array([[NO_END] * (10 - len(ends)) + ends]), np.array([False]),
    )  # fmt: skip


@pytest.mark.parametrize(("given", "ends", "now", "rules", "rule"), BOUNDS)
def test_each_rule_at_its_bound(
    given: list[Entry], ends: list[int], now: int, rules: dict[str, float], rule: str
) -> None:
    assert partition_rules(window(given, ends), burrow_rules(rules), now).tolist() == [rule]


def burrow_rules(settings: dict[str, float]) -> BurrowRules:
    return BurrowRules(**settings)  # type: ignore[arg-type]


def ring(fold: BurrowFold) -> list[tuple[int, int, int, int | None]]:
    return [(each.offset, each.time_ms, each.order, each.lag) for each in fold.groups["g"].rings[TP]]


def filled(*commits: tuple[int, int, int], **rules: object) -> BurrowFold:
    """Commits of offset, ms and order, at an end of 100 and the time 10 s."""
    fold = BurrowFold(BurrowRules(**rules))  # type: ignore[arg-type]
    fold.poll(*TP, 100)
    for offset, time, order in commits:
        fold.commit("g", TP, offset, time, order, 10)
    return fold


def test_commits_older_than_expire_group_are_dropped() -> None:
    fold = filled((1, 4_999, 1), (2, 5_000, 2), expire_group_s=5)
    assert ring(fold) == [(2, 5_000, 2, 98)]


@pytest.mark.parametrize(
    ("rules", "groups"),
    [
        (BurrowRules(allowed_groups="^pay"), ["pay-1"]),
        (BurrowRules(denied_groups="pay"), ["orders"]),
        (BurrowRules(allowed_groups="o", denied_groups="^repo"), ["orders"]),
    ],
)
def test_groups_enter_by_their_patterns(rules: BurrowRules, groups: list[str]) -> None:
    fold = BurrowFold(rules)
    fold.poll(*TP, 100)
    for group_id in ("pay-1", "orders", "repo-pay"):
        fold.commit(group_id, TP, 1, 0, 1, 0)
    assert list(fold.groups) == groups


def test_commits_without_a_known_end_are_dropped_and_leave_the_verdict_unknown() -> None:
    fold = BurrowFold(BurrowRules())
    fold.commit("g", TP, 1, 0, 1, 0)
    assert fold.groups == {}
    status = fold.status("g", 0)
    assert (status.verdict, status.rule) == ("UNKNOWN", "no_end_offsets")
    assert status.partitions[TP] == ("UNKNOWN", "no_end_offsets")


def test_a_full_ring_drops_what_is_not_above_its_oldest() -> None:
    fold = filled((1, 1, 10), (2, 2, 20), (3, 3, 5), (4, 3, 10), intervals=2)
    assert ring(fold) == [(1, 1, 10, 99), (2, 2, 20, 98)]


def test_the_same_order_does_not_enter_twice() -> None:
    assert ring(filled((1, 1, 10), (2, 2, 20), (9, 9, 20), (9, 9, 10))) == [(1, 1, 10, 99), (2, 2, 20, 98)]


def test_out_of_order_a_commit_goes_to_its_place_with_unknown_lag() -> None:
    fold = filled((3, 30, 30), (2, 20, 20), (1, 10, 10))
    assert ring(fold) == [(1, 10, 10, None), (2, 20, 20, None), (3, 30, 30, 97)]
    assert fold.groups["g"].last_commit_ms == 30
    # Right behind the oldest of a full ring it takes its place; further on the oldest leaves.
    fold = filled((1, 10, 10), (3, 30, 30), (4, 40, 40), (2, 20, 20), intervals=3)
    assert ring(fold) == [(2, 20, 20, None), (3, 30, 30, 97), (4, 40, 40, 96)]
    fold = filled((1, 10, 10), (2, 20, 20), (4, 40, 40), (3, 30, 30), intervals=3)
    assert ring(fold) == [(2, 20, 20, 98), (3, 30, 30, None), (4, 40, 40, 96)]


def test_lag_at_entry_is_never_below_zero() -> None:
    assert ring(filled((101, 0, 1))) == [(101, 0, 1, 0)]


def test_fast_commits_go_over_the_entry_before_and_keep_its_time() -> None:
    fold = filled((1, 1_000, 1), (2, 1_999, 2), (3, 2_000, 3), (4, 2_001, 4), min_distance_s=1)
    assert ring(fold) == [(2, 1_000, 2, 98), (4, 2_000, 4, 96)]
    # Out of order too, and then with unknown lag.
    fold = filled((1, 1_000, 1), (9, 9_000, 9), (5, 1_500, 5), min_distance_s=1)
    assert ring(fold) == [(5, 1_000, 5, None), (9, 9_000, 9, 91)]
    # A time that steps back is less than no distance away.
    assert ring(filled((1, 1_000, 1), (2, 999, 2))) == [(2, 1_000, 2, 98)]


def test_a_tombstone_of_the_group_removes_it() -> None:
    fold = filled((1, 1, 1))
    fold.delete_group("g")
    assert (fold.status("g", 0).verdict, fold.status("g", 0).rule) == ("NOTFOUND", "no_group")


def test_a_group_expires_by_its_newest_commit_and_is_gone_then() -> None:
    fold = filled((1, 5_000, 1), expire_group_s=5)
    assert fold.status("g", 10).verdict != "NOTFOUND"
    assert fold.status("g", 11).verdict == "NOTFOUND"
    assert fold.status("g", 10).verdict == "NOTFOUND"


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        (["OK"], "OK"),
        (["OK", "WARN"], "WARN"),
        (["WARN", "STOP"], "ERR"),
        (["STALL"], "ERR"),
        (["REWIND", "OK"], "ERR"),
    ],
)
def test_a_group_is_as_bad_as_its_worst_partition(kinds: list[str], verdict: str) -> None:
    written = {"OK": VECTORS[1], "WARN": VECTORS[0], "STOP": VECTORS[5], "STALL": VECTORS[2], "REWIND": VECTORS[7]}
    fold = BurrowFold(BurrowRules())
    for partition, kind in enumerate(kinds):
        shift = 11 if kind != "STOP" else 0  # so that one time to ask fits all
        for order, (offset, time, lag) in enumerate(entries(written[kind][0])):
            fold.poll("t", partition, offset + (lag or 0))
            fold.commit("g", ("t", partition), offset, (time + shift) * 1000, order, time)
        for _ in range(10):
            fold.poll("t", partition, written[kind][1][-1])
    status = fold.status("g", 51)
    assert [status.partitions["t", partition][0] for partition in range(len(kinds))] == kinds
    assert status.verdict == verdict == slow_group(kinds)


def test_total_lag_and_completeness_of_a_group() -> None:
    fold = BurrowFold(BurrowRules(intervals=2))
    for partition, offsets in enumerate(((90, 95), (99,))):
        fold.poll("t", partition, 100)
        for order, offset in enumerate(offsets):
            fold.commit("g", ("t", partition), offset, order, order, 0)
    assert (fold.status("g", 0).total_lag, fold.status("g", 0).complete) == (6, 0.5)


def test_rings_are_those_of_the_slow_model(rng: np.random.Generator) -> None:
    for _ in range(300):
        rules = BurrowRules(intervals=int(rng.integers(1, 6)), min_distance_s=int(rng.integers(0, 3)))
        fold, slow = BurrowFold(rules), SlowRing(rules.intervals, rules.min_distance_s)
        for _ in range(15):
            offset, end = (int(value) for value in rng.integers(0, 50, 2))
            order, time = int(rng.integers(0, 20)), int(rng.integers(0, 6_000))
            fold.poll(*TP, end)
            fold.commit("g", TP, offset, time, order, 0)
            slow.add(offset, time, order, end)
        assert ring(fold) == [tuple(entry) for entry in slow.entries]
        assert fold.groups["g"].last_commit_ms == slow.last_commit
        now, ends = int(rng.integers(0, 12)), list(fold.ends[TP])
        verdict = fold.status("g", now).partitions[TP][0]
        assert verdict == slow_verdict(slow.entries, ends, now, rules.intervals)
