"""Silence that the log does not confirm accuses nobody. Offsets partition 7, whose newest known record is 999."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.rules.facts.log_reach import known_until
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

NOW = 4000
MEMBER: list[Row] = [{}]
RISING = ends(*[(time, time + 1000) for time in range(90, 5000, 10)])
# It committed every 2 s up to 2990; silence is longer than 60 s.
STOPPED = {**committed(*[(time, 1500 + time // 2) for time in range(2900, 2991, 2)]), "group_state_intervals": MEMBER}


def log_end(time: float, end: int, partition: int = 7) -> Row:
    return {"captured_time": time, "topic": "__consumer_offsets", "partition": partition, "log_end_offset": end}


@pytest.mark.parametrize(
    ("covered", "snapshots", "until"),
    [
        ([], [], 4000),
        ([{"to_time": 2990}], [], 2990),
        ([{"to_time": 4100}], [], 4000),
        # Its end is 1000: everything that was written by then is known.
        ([{"to_time": 2990}], [log_end(3500, 1000), log_end(3600, 1001)], 3500),
        ([{"to_time": 2990}], [log_end(2000, 500)], 2990),
        ([{"to_time": 2990}], [log_end(3500, 1000, partition=6)], 2990),
        ([{"to_time": 2990}], [log_end(4001, 1000)], 2990),
        # Another stretch of the same log, and that of another partition.
        ([{"to_time": 2000, "last_offset": 50}, {"to_time": 2990}], [log_end(3500, 1000)], 3500),
        ([{"to_time": 2990}, {"to_time": 3900, "offsets_partition": 6}], [], 2990),
    ],
)
def test_the_log_is_known_up_to_its_newest_record_or_a_snapshot_of_its_end(
    covered: list[Row], snapshots: list[Row], until: float
) -> None:
    assert known_until(history(NOW, history_coverage=covered, ends=[*RISING, *snapshots])) == until * 1_000_000


def judged(given: dict[str, Any], log_ends: float, *snapshots: Row, now: float = NOW) -> tuple[str, str, str, str]:
    about = {**given, "history_coverage": [{"to_time": log_ends}], "ends": [*RISING, *snapshots]}
    row = verdict_rows(history(now, **about), BurrowRules(), OwnRules()).to_pylist()[0]
    return row["own_verdict"], row["rule"], row["burrow_verdict"], row["burrow_rule"]


UNKNOWN = ("UNKNOWN", "log_ended", "UNKNOWN", "log_ended")
STOP = ("STOP", "group_silent", "STOP", "silent")


def test_silence_counts_up_to_the_end_of_the_log_alone() -> None:
    assert judged(STOPPED, 2990) == UNKNOWN
    # 50 s of silence are not enough, 70 s are, and the 60 s after them may be unknown, but no more.
    assert judged(STOPPED, 3040, now=3060) == ("UNKNOWN", "log_ended", "STOP", "silent")
    # Burrow's window lasts 18 s: so long must the silence last that is known.
    assert judged(STOPPED, 3008, now=3030)[2:] == ("UNKNOWN", "log_ended")
    assert judged(STOPPED, 3009, now=3030)[2:] == ("STOP", "silent")
    assert judged(STOPPED, 3060, now=3120) == STOP
    assert judged(STOPPED, 3060, now=3121) == UNKNOWN


def test_a_snapshot_that_shows_no_further_record_confirms_the_silence() -> None:
    assert judged(STOPPED, 2990, log_end(3990, 1000)) == STOP
    assert judged(STOPPED, 2990, log_end(3990, 1001)) == UNKNOWN


def test_what_is_committed_twice_or_went_back_is_unknown_once_the_log_is_old() -> None:
    same = {**committed(*[(time, 3500) for time in range(3700, 3951, 10)]), "group_state_intervals": MEMBER}
    assert judged(same, 3950)[:2] == ("STALL", "stands_still")
    assert judged(same, 3950, now=4100)[:2] == ("UNKNOWN", "log_ended")
    back = {
        **committed(*[(time, 3500) for time in range(3500, 3741, 20)], (3800, 3000), (3850, 3010)),
        "group_state_intervals": MEMBER,
    }
    assert judged(back, 3850)[:3] == ("REWIND", "rewound", "REWIND")
    assert judged(back, 3850, now=5000) == UNKNOWN


def test_a_member_that_never_committed_is_accused_only_of_what_is_known() -> None:
    owned = {"ownership_intervals": [{"from_time": 300}], "group_state_intervals": MEMBER}
    assert judged(owned, 3990)[:2] == ("STOP", "never_committed")
    assert judged(owned, 310)[:2] == ("UNKNOWN", "log_ended")
    # It is given an hour: of the 3,650 s that it has had the partition 3,595 are known.
    owned["ownership_intervals"] = [{"from_time": 350}]
    assert judged(owned, 3945)[:2] == ("UNKNOWN", "log_ended")
    assert judged(owned, 3951)[:2] == ("STOP", "never_committed")


def test_lag_at_snapshots_after_the_end_of_the_log_is_no_trend() -> None:
    """It keeps up, 500 behind, and commits each 20 s; then snapshots go on alone for as long as silence may last."""
    steady = {**committed(*[(time, time - 500) for time in range(100, 3901, 20)]), "group_state_intervals": MEMBER}
    points = ends(*[(time, time) for time in range(3805, 4096, 20)])
    about = {**steady, "history_coverage": [{"to_time": 3900}], "ends": points}
    row = verdict_rows(history(4095, **about), BurrowRules(), OwnRules()).to_pylist()[0]
    assert (row["own_verdict"], row["rule"]) == ("OK", "keeps_up")


def test_nothing_left_to_read_stays_so_whatever_came_later() -> None:
    done = {**committed((2990, 4990)), "group_state_intervals": MEMBER}
    assert judged(done, 2990)[:2] == ("OK", "caught_up")
