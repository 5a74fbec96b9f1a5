"""Our own verdict of partitions without new commits, and of those whose committed offset stands still."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.own_verdicts import MEMBER, NOW, OWNED, RISING, every, judged, outcome
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

# Silence


def silence(cadence: int, last: int, points: list[Row], **changed: Any) -> tuple[str, str]:
    steps = every(cadence, last - max(10 * cadence, 60), last, 1500, 1)
    return outcome(**{**committed(*steps), "ends": points} | changed)


def test_silence_is_held_against_the_cadence_of_the_partition() -> None:
    points = ends((100, 1000), (3000, 1510), (3400, 2000), (3990, 3000))
    # It had messages to read from 3,400 on: 600 s, and it commits every 60 s or 59 s.
    assert silence(60, 3300, points)[1] != "group_silent"
    assert silence(59, 3300, points) == ("STOP", "group_silent")


def test_silence_without_new_messages_is_never_a_stop() -> None:
    assert silence(2, 3000, ends((100, 1000), (3001, 4000), (3990, 4000)))[0] != "STOP"
    assert silence(2, 3000, ends((100, 1000), (3001, 4000), (3990, 4001)))[0] == "STOP"
    # Whether what one snapshot shows came before or after the commit is not known.
    assert silence(2, 3000, ends((100, 1000), (3990, 4001)))[0] != "STOP"


def test_a_message_after_a_long_quiet_time_is_no_stop() -> None:
    quiet = ends((100, 1000), (2500, 1530), (3960, 1530), (3980, 1531), (3990, 1532))
    assert silence(2, 2500, quiet)[0] == "OK"


def test_one_commit_is_held_against_the_other_partitions_of_its_group() -> None:
    one = {"partition": 1, "first_offset": 50}
    own, others = committed((3000, 1500), **one), committed(*every(60, 3000, 3960, 4990))
    points = [*RISING, *ends((100, 1000), (3001, 1600), (3990, 3000), partition=1)]
    given = {name: own[name] + others[name] for name in own}
    states = {"group_state_intervals": MEMBER, "ends": points}
    rows = {row["partition"]: row for row in
            verdict_rows(history(NOW, **given, **states), BurrowRules(), OwnRules()).to_pylist()}  # fmt: skip
    assert (
        rows[1]["reason"]
        == "no commit for 16 min 40 s, before that one every 1 min, while others were committed; 1,400 or more "
        "messages were written since"
    )
    assert (rows[1]["own_verdict"], rows[1]["confidence"], rows[None]["own_verdict"]) == ("STOP", "likely", "STOP")
    # With nothing to compare it with, the window must pass.
    rows = {row["partition"]: row for row in
            verdict_rows(history(NOW, **own, **states), BurrowRules(), OwnRules()).to_pylist()}  # fmt: skip
    assert rows[1]["own_verdict"] != "STOP"


@pytest.mark.parametrize("producer_id", [3, 4])
def test_aborted_and_pending_commits_are_no_sign_of_life(producer_id: int) -> None:
    """Producer 3 has aborted, of producer 4 no transaction is known."""
    given = committed(*every(2, 2000, 2990, 1500, 1))
    aborted = [
        {"record_offset": 5000 + time, "record_time": time, "commit_time": time, "committed_offset": 4000,
         "is_transactional": True, "producer_id": producer_id}
        for time in range(3000, 3990, 2)
    ]  # fmt: skip
    transactions = [
        {"producer_id": 1, "first_offset": 1, "outcome": "committed", "end_time": 3995},
        {"producer_id": 3, "first_offset": 7999, "outcome": "aborted", "end_time": 3995},
    ]
    given["commits"] += aborted
    assert outcome(**given, transactions=transactions, ends=RISING) == ("STOP", "group_silent")


@pytest.mark.parametrize("producer_id", [3, 4])
def test_aborted_and_pending_commits_do_not_set_the_cadence(producer_id: int) -> None:
    given = committed(*every(400, 1000, 3000, 1500, 1))
    given["commits"] += [
        {"record_offset": 5000 + time, "record_time": time, "commit_time": time, "committed_offset": 4000,
         "is_transactional": True, "producer_id": producer_id}
        for time in range(1001, 3990, 2)
    ]  # fmt: skip
    transactions = [
        {"producer_id": 1, "first_offset": 1, "outcome": "committed", "end_time": 3995},
        {"producer_id": 3, "first_offset": 6001, "outcome": "aborted", "end_time": 3995},
    ]
    assert outcome(**given, transactions=transactions, ends=RISING)[0] != "STOP"


# Standing still


@pytest.mark.parametrize(
    ("steps", "points", "rule"),
    [
        # Three commits over a minute after messages were there; two; three over less.
        ([(3000, 9), (3920, 9), (3980, 9)], ends((100, 9), (3900, 20), (3990, 30)), "stands_still"),
        ([(3000, 9), (3980, 9)], ends((100, 9), (3900, 20), (3990, 30)), "falls_behind"),
        ([(3000, 9), (3920, 9), (3959, 9)], ends((100, 9), (3900, 20), (3990, 30)), "falls_behind"),
        # Nothing came since the first of them: a transaction's marker may be all there is.
        ([(500, 9), (3920, 9), (3980, 9)], ends((100, 20), (2000, 20), (3990, 20)), "keeps_up"),
    ],
)
def test_a_partition_stands_still_after_enough_commits_with_messages_to_read(
    steps: list[tuple[float, int]], points: list[Row], rule: str
) -> None:
    assert judged(**committed(*steps), ends=points)["rule"] == rule


def test_ends_of_an_earlier_topic_say_nothing_of_how_old_a_message_of_this_one_is() -> None:
    """They rose beyond the offset long before; the ends of this topic were beyond it from the first on."""
    points = ends((100, 50), (200, 900), topic_id="old") + ends((3960, 85), (3990, 100), topic_id="new")
    assert judged(**committed((3985, 80), topic_id="new"), ends=points)["time_lag_ms"] is None
    points += ends((3970, 85), topic_id="new")
    # 5 of the 15 messages that came within the 20 s after 3,970 s.
    row = judged(**committed((3985, 90), topic_id="new"), ends=points)
    assert row["time_lag_ms"] == 23_333


def test_messages_written_since_are_those_of_this_topic() -> None:
    """Owned since before the topic was made anew: 900 went with the old one."""
    points = ends((100, 900), topic_id="old") + ends((500, 10), (3990, 60), topic_id="new")
    row = judged(ownership_intervals=OWNED, ends=points)
    assert (row["rule"], row["reason"].split("; ")[1].split(", and ")[1]) == (
        "never_committed",
        "50 or more messages were written since",
    )
