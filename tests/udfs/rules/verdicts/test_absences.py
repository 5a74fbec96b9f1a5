"""What it means that a group has no members: down, retired, or nobody knows. Asked of histories whose answer is plain
from what they say."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.lag.doubtful_times import Doubt
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

MINUTE, HOUR, DAY = 60, 3600, 86_400
NOW = 20 * DAY
# A snapshot an hour for three weeks, and a message a second.
ENDS = ends(*((hour * HOUR, hour * HOUR) for hour in range(20 * 24 + 1)))
QUIET = ends(*((hour * HOUR, 500) for hour in range(20 * 24 + 1)))


def lives(*stays: tuple[float, float], begin: int = 1) -> list[Row]:
    """States of a group that had a member in these times, and had none in between."""
    rows: list[Row] = []
    for at, number in sorted([each for stay in stays for each in ((stay[0], 1), (stay[1], 0))]):
        if rows:
            rows[-1] |= {"to_time": at, "to_record_offset": 10 * len(rows) + begin, "ended_by": "next_state"}
        rows.append({"from_time": at, "from_record_offset": 10 * len(rows) + begin, "num_members": number,
                     "state": "Stable" if number else "Empty"})  # fmt: skip
    return rows


def left(time: float, kind: str = "left_or_timed_out", **about: Any) -> Row:
    return {"to_time": time, "to_record_offset": 9, "leave_kind": kind} | about


def rows_of(now: float, rules: OwnRules = OwnRules(), **given: Any) -> list[Row]:  # noqa: B008
    """The rows of the partition and of the group."""
    rows: list[Row] = verdict_rows(history(now, **{"ends": ENDS, **given}), BurrowRules(), rules).to_pylist()
    return rows


def verdict(now: float, **given: Any) -> tuple[str, str]:
    _, group = rows_of(now, **given)
    return group["own_verdict"], group["rule"]


def used(*stays: tuple[float, float], kind: str = "left_or_timed_out") -> dict[str, Any]:
    """A group with members in these times, that commits right before it goes."""
    steps = [(end - 1, round(end) - 1) for _, end in stays]
    return {"group_state_intervals": lives(*stays), "membership_intervals": [left(stays[-1][1], kind)],
            **committed(*steps)}  # fmt: skip


DOWN, RETIRED = ("DOWN", "group_down"), ("OK", "retired")
TIMEOUTS = ("session_timeout_likely", "rebalance_timeout_likely", "static_expired_likely")


@pytest.mark.parametrize("kind", TIMEOUTS)
@pytest.mark.parametrize("away", [2 * HOUR, 2 * DAY, 6 * DAY])
def test_a_group_whose_last_members_timed_out_is_down_until_somebody_is_back(kind: str, away: float) -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    assert verdict(stay[1] + away, **used(stay, kind=kind)) == DOWN
    partition, _ = rows_of(stay[1] + away, **used(stay, kind=kind))
    assert (partition["own_verdict"], partition["rule"]) == ("STOP", "group_down")
    back = used(stay, (stay[1] + away - HOUR, stay[1] + away + HOUR), kind=kind)
    assert verdict(stay[1] + away, **back)[0] != "DOWN"


def test_the_reason_says_who_went_how_and_what_was_written_since() -> None:
    stay = (10 * DAY, 10 * DAY + 30 * MINUTE)
    given = used(stay) | {"membership_intervals": [
        left(stay[1], TIMEOUTS[0]), left(stay[1] - 30, TIMEOUTS[0], member_id="n", client_id=None, client_host=None),
        left(stay[1] - 70, TIMEOUTS[0], member_id="o"),
    ]}  # fmt: skip
    _, group = rows_of(10 * DAY + 3 * HOUR, **given)
    # The first snapshot after it went away is that of 01:00.
    assert group["reason"] == (
        "its last 2 members timed out at 1970-01-11T00:30:00Z (p1 at 10.0.0.7, n); 7,200 messages or more were written "
        "to 1 partition since"
    )
    assert group["since_time"].timestamp() == stay[1]
    assert (group["confidence"], group["lag"]) == ("likely", 3 * HOUR - 30 * MINUTE + 1)


def test_a_group_that_left_by_itself_after_a_short_time_is_retired() -> None:
    stay = (10 * DAY, 10 * DAY + HOUR)
    assert verdict(12 * DAY, **used(stay)) == RETIRED
    # A second more, and it was in use all its life.
    assert verdict(12 * DAY, **used((stay[0], stay[1] + 1))) == DOWN


@pytest.mark.parametrize(("share", "expected"), [(0.52, DOWN), (0.48, RETIRED)])
def test_a_group_that_was_in_use_most_of_the_week_is_down(share: float, expected: tuple[str, str]) -> None:
    """Of two stays in the last seven days; what came before does not count."""
    end, length = 15 * DAY, share * 7 * DAY
    stays = ((1 * DAY, 7 * DAY), (end - 6 * DAY, end - 6 * DAY + length / 2), (end - length / 2, end))
    assert verdict(end + HOUR + 1, **used(*stays)) == expected
    # By its longest absence, at most 2.7 days, it comes and goes.
    assert verdict(end + 4.1 * DAY, **used(*stays)) == DOWN


def test_it_is_given_its_usual_pause_before_it_is_missed() -> None:
    """A deployment stops all members and starts them again."""
    stay = (10 * DAY, 12 * DAY)
    steps = [(12 * DAY - 601 + 10 * place, 12 * DAY - 601 + 10 * place) for place in range(61)]
    given = used(stay) | committed(*steps)
    close = ends(*((12 * DAY + minute * MINUTE, 12 * DAY + minute * MINUTE) for minute in range(-60, 60)))
    assert verdict(12 * DAY + 100, **given, **{"ends": close})[0] != "DOWN"
    assert verdict(12 * DAY + 130, **given, **{"ends": close}) == DOWN


NIGHTS = [(night * DAY, night * DAY + HOUR) for night in range(10, 16)]


@pytest.mark.parametrize(("away", "expected"), [(23, RETIRED), (34, RETIRED), (35, DOWN), (24 * 4, DOWN)])
def test_a_nightly_batch_is_down_when_it_is_away_for_longer_than_ever(away: int, expected: tuple[str, str]) -> None:
    """Its absences take 23 hours, and 1.5 times that is 34.5."""
    assert verdict(NIGHTS[-1][1] + away * HOUR, **used(*NIGHTS)) == expected


def test_a_group_that_comes_and_goes_within_seconds_is_given_a_minute() -> None:
    stays = [(12 * DAY - 100 + place * 20, 12 * DAY - 100 + place * 20 + 19) for place in range(5)]
    close = ends(*((12 * DAY + 5 * place, 12 * DAY + 5 * place) for place in range(-40, 40)))
    assert verdict(stays[-1][1] + 60, **used(*stays), **{"ends": close})[0] != "DOWN"
    assert verdict(stays[-1][1] + 61, **used(*stays), **{"ends": close}) == DOWN


def share_group(*stays: tuple[float, float], kind: str = "left_or_timed_out", topics: str = "t") -> dict[str, Any]:
    stays = stays or ((10 * DAY, 11 * DAY),)
    states = [each | {"group_type": "share", "protocol_type": None} for each in lives(*stays)]
    members = [{"group_type": "share", "assignment_offset": 5, "subscribed_topics": [topics]}]
    return {"group_state_intervals": states, "membership_intervals": [left(stays[-1][1], kind)],
            "generation_members": members}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (share_group(kind=TIMEOUTS[0]), "its last member timed out at 1970-01-12T00:00:00Z (p1 at 10.0.0.7)"),
        (share_group(), "its last member left at 1970-01-12T00:00:00Z; it was in use for 100% of the 1 d before"),
        (
            share_group(*((day * DAY, day * DAY + 30 * MINUTE) for day in (10.5, 10.7, 10.9, 11 - 1 / 48))),
            "its last member left at 1970-01-12T00:00:00Z, 1 d ago; it came and went 4 times, and was away for "
            "4 h 18 min at most",
        ),
    ],
)
def test_a_share_group_is_down_when_it_is_missed_and_its_topic_grew(given: dict[str, Any], why: str) -> None:
    (group,) = rows_of(12 * DAY, **given)
    assert (group["own_verdict"], group["rule"], group["lag"], group["topic"]) == (*DOWN, None, None)
    assert group["reason"] == (
        f"{why}; 86,400 messages or more were written to t since; how many wait is not known: share groups keep their "
        "offsets elsewhere"
    )
    assert group["since_time"].timestamp() == 11 * DAY


@pytest.mark.parametrize(
    "given", [share_group(topics="u"), share_group((11 * DAY - HOUR, 11 * DAY)), share_group() | {"ends": QUIET}]
)
def test_a_share_group_that_nobody_misses_or_whose_topics_did_not_grow_has_no_row(given: dict[str, Any]) -> None:
    assert rows_of(12 * DAY, **given) == []


def test_a_share_group_is_given_a_pause() -> None:
    assert rows_of(11 * DAY + 50 * MINUTE, **share_group()) == []


def test_two_stays_are_no_habit() -> None:
    assert verdict(NIGHTS[1][1] + 60 * HOUR, **used(*NIGHTS[:2])) == RETIRED


def test_only_the_last_ten_absences_count() -> None:
    first = (0, HOUR)
    stays = [first, *((night * DAY, night * DAY + HOUR) for night in range(5, 16))]
    last = committed((15 * DAY, 15 * DAY))
    assert verdict(15 * DAY + 36 * HOUR, **used(*stays) | last) == DOWN
    assert verdict(15 * DAY + 36 * HOUR, **used(*stays[:1], *stays[2:]) | last) == RETIRED


def test_a_commit_of_an_admin_does_not_bring_it_back() -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    moved = used(stay, kind=TIMEOUTS[0])
    moved |= committed((stay[1] - 1, 1000), (11 * DAY, 2000))
    _, group = rows_of(12 * DAY, **moved)
    assert (group["own_verdict"], group["rule"]) == DOWN
    assert "the commit at 1970-01-12T00:00:00Z, such as an admin makes, does not bring it back" in group["reason"]


def test_what_an_admin_committed_for_the_first_time_was_never_its_own() -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    given = used(stay, kind=TIMEOUTS[0]) | committed((11 * DAY, 2000))
    assert verdict(12 * DAY, **given)[0] != "DOWN"


def test_commits_at_a_rhythm_bring_it_back() -> None:
    """The program assigns its partitions itself from now on."""
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    steps = [(12 * DAY - 10 * place, 12 * DAY - 10 * place - 50) for place in reversed(range(100))]
    given = used(stay, kind=TIMEOUTS[0]) | committed((stay[1] - 1, 1000), *steps)
    assert verdict(12 * DAY, **given)[0] != "DOWN"


def test_nothing_was_written_since() -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    given = used(stay, kind=TIMEOUTS[0])
    assert verdict(12 * DAY, **given | committed((stay[1] - 1, 500)), ends=QUIET) == ("OK", "worst_partition")
    # It may have been written since: no snapshot shows when.
    assert verdict(12 * DAY, **given | committed((stay[1] - 1, 400)), ends=QUIET) == ("UNKNOWN", "worst_partition")


def test_where_nobody_saw_it_go_nothing_is_certain() -> None:
    empty = [{"from_time": 5 * DAY, "state": "Empty", "num_members": 0}]
    assert verdict(12 * DAY, group_state_intervals=empty, **committed((4 * DAY, 50))) == ("UNKNOWN", "went_away_unseen")
    _, group = rows_of(12 * DAY, group_state_intervals=empty, **committed((4 * DAY, 50)))
    assert group["confidence"] == "possible"
    lost = lives((5 * DAY, 6 * DAY))
    lost[0]["ended_by"] = "coverage_hole"
    assert verdict(12 * DAY, group_state_intervals=lost, **committed((4 * DAY, 50))) == ("UNKNOWN", "went_away_unseen")


def test_a_group_that_was_made_anew_did_not_live_before() -> None:
    """Its name was in use for days, then it was deleted; an admin committed for the new one."""
    before = lives((5 * DAY, 10 * DAY))
    before[-1] |= {"to_time": 11 * DAY, "to_record_offset": 30, "ended_by": "deleted"}
    anew = {"from_time": 11 * DAY, "from_record_offset": 31, "state": "Empty", "num_members": 0,
    "generation_or_epoch": None,
            "protocol_type": None}  # fmt: skip
    given = {"group_state_intervals": [*before, anew], "membership_intervals": [left(10 * DAY, TIMEOUTS[0])]}
    assert verdict(12 * DAY, **given, **committed((11 * DAY, 2000))) == RETIRED


ALONE: list[Row] = [{"from_time": 10 * DAY, "from_record_offset": 50, "state": "Empty", "num_members": 0,
                     "generation_or_epoch": None, "protocol_type": None}]  # fmt: skip


@pytest.mark.parametrize(
    ("length", "away", "expected"),
    [
        (2 * HOUR, 2 * HOUR, DOWN), (2 * HOUR, 3 * DAY, DOWN), (50 * MINUTE, 2 * HOUR, RETIRED),
        (50 * MINUTE, 30 * MINUTE, ("STOP", "worst_partition")),
    ],
)  # fmt: skip
def test_a_program_without_members_is_judged_by_its_regular_commits(
    length: int, away: int, expected: tuple[str, str]
) -> None:
    steps = [(10 * DAY + 10 * place, 10 * DAY + 10 * place) for place in range(length // 10)]
    close = ends(*((10 * DAY + each * 5 * MINUTE, 10 * DAY + each * 5 * MINUTE) for each in range(12 * 24 * 4)))
    given = {"group_state_intervals": ALONE, "ends": close, **committed(*steps)}
    assert verdict(10 * DAY + length + away, **given) == expected


def test_a_tool_that_committed_once_is_nobody_to_miss() -> None:
    assert verdict(12 * DAY, group_state_intervals=ALONE, **committed((10 * DAY, 50))) == RETIRED


def test_where_the_data_ends_it_stays_down_and_nobody_is_retired() -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    coverage = [{"to_time": 11 * DAY}]
    old = ends(*((hour * HOUR, hour * HOUR) for hour in range(12 * 24)))
    given = {"ends": old, "history_coverage": coverage}
    _, group = rows_of(14 * DAY, **used(stay, kind=TIMEOUTS[0]), **given)
    assert (group["own_verdict"], group["rule"]) == DOWN
    assert group["reason"].endswith("; as of 1970-01-12T00:00:00Z, where the data ends")
    assert verdict(14 * DAY, **used(stay), **given)[0] == "UNKNOWN"


def test_a_clock_that_went_back_since_leaves_it_open() -> None:
    stay = (10 * DAY, 10 * DAY + 20 * MINUTE)
    given = used(stay, kind=TIMEOUTS[0])
    within, before = ((Doubt(int(day * DAY * 1e6), int((day + 0.1) * DAY * 1e6), 0),) for day in (11, 9))
    assert verdict(12 * DAY, **given, doubts=within) == ("UNKNOWN", "worst_partition")
    assert verdict(12 * DAY, **given, doubts=before) == DOWN


@pytest.mark.parametrize("rules", [OwnRules(in_use_s=7200), OwnRules(in_use_share=1.0)])
def test_settings_decide_how_much_use_counts(rules: OwnRules) -> None:
    stays = ((10 * DAY, 10 * DAY + HOUR), (10 * DAY + 70 * MINUTE, 10 * DAY + 80 * MINUTE))
    assert rows_of(11 * DAY, **used(*stays))[1]["own_verdict"] == "DOWN"
    assert rows_of(11 * DAY, rules, **used(*stays))[1]["own_verdict"] == "OK"
