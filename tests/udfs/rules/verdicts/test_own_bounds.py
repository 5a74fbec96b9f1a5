"""Where each of our own rules begins to hold: one step before its bound it does not, at the bound it does."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from udfs.arrays.nullable import NONE
from udfs.rules.facts.commit_cadence import Cadences, own_cadences
from udfs.rules.facts.verdict_keys import KeyedCommits
from udfs.rules.verdicts.group_facts import NEVER
from udfs.rules.verdicts.lag_trend import WindowLags
from udfs.rules.verdicts.own_facts import Values
from udfs.rules.verdicts.own_verdict import OwnAnswer, OwnRules, Rewind, Standing, own_verdicts
from udfs.rules.verdicts.rewinds import of_chains

SECOND = 1_000_000
ONE_LAG = WindowLags(number=1, first_time=0, last_time=0, trend=None)
RULES = OwnRules(window_s=3600, allowed_lag=0, least_time_lag_s=60, silence_factor=10, least_repeats=3)
# Messages came at 100 s, and the offset is committed again and again, last at 160 s.
REPEATED = Standing(
    now=200 * SECOND, committed=5, held_since=50 * SECOND, last_commit=160 * SECOND, start_offset=0, end_offset=50,
    unread_since=100 * SECOND, written_since_commit=0, written_since_held=45, cadence=20 * SECOND, num_repeats=3,
)  # fmt: skip
OWNED = Standing(
    now=200 * SECOND, start_offset=0, end_offset=50, owned_since=140 * SECOND, written_since_owned=9, cadence=6 * SECOND
)


def answer(standing: Standing) -> OwnAnswer:
    """No lag of the window is known."""
    (result,) = own_verdicts([standing], RULES, lambda _: {})
    return result


def rule(standing: Standing) -> str:
    return answer(standing).rule


@pytest.mark.parametrize(("last_commit", "decides"), [(160 * SECOND - 1, "too_few"), (160 * SECOND, "stands_still")])
def test_an_offset_stands_still_from_the_least_time_lag_on(last_commit: int, decides: str) -> None:
    assert rule(replace(REPEATED, last_commit=last_commit)) == decides
    # Counted from the later of both: when the offset was committed first, and when there was something to read.
    late = replace(REPEATED, held_since=100 * SECOND, unread_since=50 * SECOND, last_commit=last_commit)
    assert rule(late) == decides


@pytest.mark.parametrize(("repeats", "decides"), [(2, "too_few"), (3, "stands_still")])
def test_an_offset_stands_still_from_the_least_repeats_on(repeats: int, decides: str) -> None:
    assert rule(replace(REPEATED, num_repeats=repeats)) == decides


@pytest.mark.parametrize(
    ("owned_since", "cadence", "verdict"),
    [
        (140 * SECOND, 6 * SECOND, "STOP"),
        (140 * SECOND + 1, 6 * SECOND, "UNKNOWN"),
        # Ten times the cadence is longer.
        (140 * SECOND, 7 * SECOND, "UNKNOWN"),
        (130 * SECOND, 7 * SECOND, "STOP"),
        # Nothing shows how often it commits: the window is the bound.
        (130 * SECOND, None, "UNKNOWN"),
    ],
)
def test_an_owner_has_to_commit_within_the_usual_silence(owned_since: int, cadence: int | None, verdict: str) -> None:
    result = answer(replace(OWNED, owned_since=owned_since, cadence=cadence))
    assert (result.verdict, result.rule) == (verdict, "never_committed")


@pytest.mark.parametrize(("start", "decides"), [(49, "never_committed"), (50, "nothing_to_read")])
def test_an_owner_has_nothing_to_commit_in_an_empty_log(start: int, decides: str) -> None:
    assert rule(replace(OWNED, start_offset=start)) == decides


@pytest.mark.parametrize(
    ("peak", "end", "decides"),
    [
        (6, 50, "rewound"),
        # Made up for.
        (5, 50, "too_few"),
        (50, 50, "rewound"),
        # The log lost its end, and the group followed it.
        (51, 50, "too_few"),
    ],
)
def test_a_rewind_is_below_a_peak_that_the_log_still_has(peak: int, end: int, decides: str) -> None:
    back = Rewind(peak, 150 * SECOND, 1)
    assert rule(replace(REPEATED, num_repeats=1, rewind=back, end_offset=end)) == decides


@pytest.mark.parametrize(
    ("waiting", "cadence", "decides"),
    [
        (60 * SECOND, 6 * SECOND, "too_few"),
        (60 * SECOND + 1, 6 * SECOND, "silent"),
        (60 * SECOND + 1, 7 * SECOND, "too_few"),
        (70 * SECOND + 1, 7 * SECOND, "silent"),
    ],
)
def test_silence_is_longer_than_the_usual_one(waiting: int, cadence: int, decides: str) -> None:
    silent = replace(REPEATED, num_repeats=1, written_since_commit=9, cadence=cadence, owned_since=0,
                     others_until=REPEATED.now)  # fmt: skip
    assert rule(replace(silent, last_commit=silent.now - waiting, unread_since=0)) == decides
    # Counted from when there was something to read.
    assert rule(replace(silent, last_commit=0, unread_since=silent.now - waiting)) == decides


@pytest.mark.parametrize(
    ("ago", "changed", "decides"),
    [
        (60 * SECOND, {}, "too_few"),
        (60 * SECOND + 1, {}, "no_reader"),
        (70 * SECOND, {"cadence": 7 * SECOND}, "too_few"),
        (70 * SECOND + 1, {"cadence": 7 * SECOND}, "no_reader"),
        (150 * SECOND, {"owned_since": 190 * SECOND}, "too_few"),
        # What comes first is worse, or explains it.
        (150 * SECOND, {"time_lag": 59 * SECOND}, "caught_up"),
    ],
)
def test_only_an_owner_or_a_recent_commit_shows_a_reader(ago: int, changed: dict[str, int], decides: str) -> None:
    committed = {"num_repeats": 1, "cadence": None, "last_commit": REPEATED.now - ago}
    assert rule(replace(REPEATED, **{**committed, **changed})) == decides


@pytest.mark.parametrize(("time_lag", "decides"), [(60 * SECOND - 1, "caught_up"), (60 * SECOND, "too_few")])
def test_young_lag_alarms_nobody(time_lag: int, decides: str) -> None:
    assert rule(replace(REPEATED, num_repeats=1, time_lag=time_lag)) == decides


def test_steps_back_count_from_the_last_time_at_the_peak() -> None:
    """The first one was made up for."""
    key = np.array([1, 1, 1, 1, 2, 2, 4, 4, 4, 4, 6])
    committed = np.array([10, 5, 10, 8, 5, 10, 10, 8, 9, 7, 3])
    times = np.array([1, 2, 3, 4, 1, 2, 5, 6, 7, 8, 9])
    assert of_chains(key, committed, times) == {1: Rewind(10, 4, 1), 4: Rewind(10, 8, 2)}


def test_a_value_is_known_from_its_begin_up_to_its_end() -> None:
    rows = np.arange(2)
    values = Values(rows, np.array([3, 3]), np.array([10, 30]), np.array([20, NEVER]), np.array([5, 7]))
    committed, is_known = values.at(np.full(7, 3), np.array([9, 10, 19, 20, 29, 30, 99]))
    assert is_known.tolist() == [False, True, True, False, False, True, True]
    assert committed[is_known].tolist() == [5, 5, 7, 7]


MINUTE = [*range(0, 61, 6)]


@pytest.mark.parametrize(
    ("times", "usual"),
    [
        (MINUTE, 6),
        # Each less by one: commits, times, how long it is beside the gap, and beside a minute.
        ([0, 0, 30, 600, 600], 300),
        ([0, 30, 600, 600], None),
        ([0, 0, 0, 600, 600], None),
        ([0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600], 60),
        ([0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 599], None),
        ([*range(60)], None),
        ([*range(61)], 1),
        # A tool commits several partitions, and again much later; four transactions at once, in two minutes.
        ([0, 0.2, 0.4, 0.7, 0.9, 900], None),
        ([0.1, 0.2, 0.3, 0.4, 60.1, 60.2, 60.3, 60.4, 120.1, 120.2], None),
        # Many a second are one every second.
        ([number / 5 for number in range(310)], 1),
        # What passed before the clock was set back counts, and how far it was set back does not.
        ([*range(40), *range(10, 31)], None),
        ([*range(40), *range(10, 32)], 1),
    ],
)  # fmt: skip
def test_commits_over_a_long_time_show_how_often_a_partition_commits(times: list[float], usual: int | None) -> None:
    rules = replace(RULES, silence_factor=2) if len(times) < 6 else RULES
    assert cadence_of_first([times], rules=rules) == usual


@pytest.mark.parametrize(
    ("gaps", "usual"), [([10, 20, 90], 20), ([90, 10, 20], 20), ([10, 20, 30, 90], 25), ([40], 40), ([], None)]
)
def test_a_partition_that_shows_no_cadence_has_the_median_of_its_group(gaps: list[int], usual: int | None) -> None:
    """Not the mean, nor that of another group."""
    others = [[*range(0, 11 * gap, gap)] for gap in gaps]
    assert cadence_of_first([[0, 7], *others, [*range(0, 5001, 500)]], [0] * (len(gaps) + 1) + [1]) == usual


def cadence_of_first(
    times: Sequence[Sequence[float]], groups: Sequence[int] = (0,), rules: OwnRules = RULES
) -> int | None:
    """`times`: of the commits of each key, in seconds; `groups`: of each key."""
    sizes = [len(each) for each in times]
    column = np.array([round(time * SECOND) for each in times for time in each])
    commits = KeyedCommits(
        np.append(0, np.cumsum(sizes)), np.repeat(np.arange(len(sizes)), sizes), column, column, column, column,
        np.ones(len(column), np.bool_),
    )  # fmt: skip
    own, of_all = own_cadences(commits, len(times), rules.silence_factor, rules.least_time_lag), Cadences()
    names = [str(each) for each in groups]
    of_all.add(pa.array(names), own)
    result = int(of_all.or_of_others(own, names, np.arange(len(names)))[0])
    return None if result == NONE else result // SECOND


def test_no_trend_is_looked_at_while_the_clock_was_wrong_or_the_log_is_old() -> None:
    """REPEATED too rarely to stand still: nothing but a trend could decide."""
    undecided = replace(REPEATED, num_repeats=1)
    assert rule(undecided) == "too_few"
    assert rule(replace(undecided, is_clock_doubtful=True)) == "clock_went_back"
    # Times of now are not what a trend rests on.
    assert rule(replace(undecided, is_now_doubtful=True)) == "too_few"
    # A silence of ten times the cadence means nothing.
    assert rule(replace(undecided, log_until=undecided.now - 200 * SECOND)) == "too_few"
    assert rule(replace(undecided, log_until=undecided.now - 200 * SECOND - 1)) == "log_ended"


@pytest.mark.parametrize(
    ("window", "log_until", "few"),
    [
        ({}, None, "no snapshot of the last 1 h shows its lag"),
        ({0: ONE_LAG}, 200, "only 1 snapshot of the last 1 h shows its lag"),
        (
            {0: ONE_LAG},
            199,
            "only 1 snapshot of the last 1 h, up to 1970-01-01T00:03:19Z where the data ends, shows its lag",
        ),
    ],
)
def test_snapshots_after_the_end_of_the_log_are_not_said_to_be_absent(
    window: dict[int, WindowLags], log_until: int | None, few: str
) -> None:
    """They have end offsets, but no lag is known there."""
    until = None if log_until is None else log_until * SECOND
    undecided = replace(REPEATED, num_repeats=1, log_until=until, last_commit=None)
    (result,) = own_verdicts([undecided], RULES, lambda _: window)
    assert result.reason == f"45 messages to read; {few}, too few to see whether lag grows"


def test_a_step_back_by_more_than_64_bits_is_one() -> None:
    largest = 2**63 - 1
    key, times = np.zeros(4, np.int64), np.arange(4)
    assert of_chains(key, np.array([largest, -2, 7, 5]), times) == {0: Rewind(largest, 3, 2)}
