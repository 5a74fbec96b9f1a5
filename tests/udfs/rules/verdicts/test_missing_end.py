"""Our own verdict where the log of a group's offsets partition ends early: nobody is well beyond that end, and what the
records show stays."""

from dataclasses import replace

import pytest

from schemas.words.records import EarlyEnd
from udfs.rules.verdicts.lag_trend import Trend, WindowLags
from udfs.rules.verdicts.own_verdict import OwnRules, Standing, own_verdicts

SECOND = 1_000_000
RULES = OwnRules(window_s=3600, allowed_lag=0, least_time_lag_s=60, silence_factor=10, least_repeats=3)
# It commits each 5 s, last at 960 s, and 8 messages wait; its log ends 40 s before the as-of time.
RUNS = Standing(
    now=1000 * SECOND, log_until=960 * SECOND, committed=92, held_since=960 * SECOND, last_commit=960 * SECOND,
    start_offset=0, end_offset=100, end_time=1000 * SECOND, owned_since=0, time_lag=47 * SECOND,
    unread_since=960 * SECOND, written_since_commit=8, cadence=5 * SECOND, others_until=960 * SECOND,
)  # fmt: skip
TREND = Trend(begin=8, end=8, noise=2.0, is_falling=False)


def answer(standing, trend=TREND):
    window = WindowLags(number=9, first_time=0, last_time=1000 * SECOND, trend=trend)
    return own_verdicts([standing], RULES, lambda _: {0: window})[0]


def verdict(standing):
    found = answer(standing)
    return str(found.verdict), str(found.rule)


@pytest.mark.parametrize("why", [EarlyEnd.TORN_TAIL, EarlyEnd.KNOWN_END])
def test_nobody_is_well_beyond_a_proven_end(why):
    assert verdict(RUNS) == ("OK", "caught_up")
    assert verdict(replace(RUNS, early_end=why)) == ("UNKNOWN", "log_ended")
    reason = "the data ends at 1970-01-01T00:16:00Z, 40 s before the as-of time; whether the group committed later is "
    assert answer(replace(RUNS, early_end=why)).reason == f"{reason}unknown"
    late = replace(RUNS, time_lag=61 * SECOND)
    assert (verdict(late), verdict(replace(late, early_end=why))) == (("OK", "keeps_up"), ("UNKNOWN", "log_ended"))


@pytest.mark.parametrize(("changed", "rule"), [
    # It commits more rarely than what is missing.
    ({"cadence": 40 * SECOND}, "caught_up"), ({"cadence": 39 * SECOND}, "log_ended"), ({"cadence": None}, "log_ended"),
    # It is at the end of its topic.
    ({"committed": 100, "unread_since": None}, "caught_up"),
    # A snapshot shows that nothing is missing.
    ({"log_until": 1000 * SECOND}, "caught_up"),
])  # fmt: skip
def test_who_had_nothing_to_commit_is_well(changed, rule):
    assert verdict(replace(RUNS, early_end=EarlyEnd.TORN_TAIL, **changed))[1] == rule


def test_an_end_that_nothing_proves_counts_by_the_groups_own_rhythm():
    """Ten of its usual gaps."""
    doubted = replace(RUNS, early_end=EarlyEnd.BEFORE_OTHERS, time_lag=50 * SECOND)
    for cadence, rule in ((4 * SECOND, "caught_up"), (4 * SECOND - 1, "log_ended"), (None, "caught_up")):
        assert verdict(replace(doubted, cadence=cadence))[1] == rule


def test_what_the_records_show_stays():
    stuck = replace(
        RUNS, early_end=EarlyEnd.TORN_TAIL, held_since=700 * SECOND, unread_since=700 * SECOND, time_lag=300 * SECOND,
        written_since_commit=0, written_since_held=8, num_repeats=50,
    )  # fmt: skip
    assert verdict(stuck) == ("STALL", "stands_still")


def test_a_silence_beside_an_early_end_is_dated():
    """The log of its partition ends with its own last commit: it may be silent, or its copy cut."""
    silent = replace(
        RUNS, log_until=800 * SECOND, last_commit=800 * SECOND, time_lag=200 * SECOND, unread_since=800 * SECOND,
        silent_if_whole_since=800 * SECOND,
    )  # fmt: skip
    found = answer(replace(silent, early_end=EarlyEnd.BEFORE_OTHERS))
    assert (str(found.verdict), str(found.rule), found.since) == ("UNKNOWN", "log_ended", 800 * SECOND)
    assert found.reason.startswith(
        "no commit of the whole group is known since 1970-01-01T00:13:20Z, but the data ends"
    )
    assert answer(silent).since is None
