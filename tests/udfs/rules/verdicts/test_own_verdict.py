"""Our own verdict, rule by rule, of histories whose answers are plain from what they say. Asked at 4,000 s with a
window of 3,600 s, so that it begins at 400 s."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.lag.doubtful_times import Doubt
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

NOW = 4000
# The group has had one member all the time; the group has never had one; it lost its last one at a time.
MEMBER: list[Row] = [{}]
EMPTY: list[Row] = [{"state": "Empty", "num_members": 0}]
OWNED: list[Row] = [{"from_time": 100}]
RISING = ends((100, 1000), (1000, 2000), (2000, 3000), (3000, 4000), (3990, 4990))


def left_at(time: int) -> list[Row]:
    gone = {"state": "Empty", "num_members": 0, "from_time": time, "from_offset": 50}
    return [{"to_time": time, "to_offset": 50, "ended_by": "next_state"}, gone]


def judged(rules: OwnRules = OwnRules(), **given: Any) -> Row:  # noqa: B008
    """The row of the one partition."""
    given.setdefault("group_state_intervals", MEMBER)
    partition, _ = verdict_rows(history(NOW, **given), BurrowRules(), rules).to_pylist()
    return dict(partition)


def every(gap: int, since: int, until: int, offset: int, rise: int = 0) -> list[tuple[float, int]]:
    return [(time, offset + rise * place) for place, time in enumerate(range(since, until + 1, gap))]


# What each says of the partition, the rule, and the history.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "no member subscribes to the topic": (
        "OK", "not_subscribed",
        {**committed(*every(10, 100, 200, 5)), "ends": RISING, "generation_members": [{"subscribed_topics": ["u"]}]},
    ),
    "nobody has used the group within the window": (
        "OK", "not_in_use", {**committed((300, 5)), "ends": RISING, "group_state_intervals": EMPTY},
    ),
    "no snapshot has the end": ("UNKNOWN", "no_end_offsets", {**committed((3990, 5))}),
    "all snapshots are later": ("UNKNOWN", "no_end_offsets", {**committed((3990, 5)), "ends": ends((4001, 9))}),
    "it had caught up by a snapshot before the window": (
        "UNKNOWN", "no_end_offsets", {**committed((399, 1000), (3990, 1005)), "ends": ends((399, 1000))},
    ),
    "it had caught up by a snapshot of the window": (
        "OK", "caught_up", {**committed((399, 1000), (3990, 1005)), "ends": ends((400, 1000))},
    ),
    "the committed offset is negative": ("UNKNOWN", "committed_negative", {**committed((3990, -1)), "ends": RISING}),
    "the topic was made anew": (
        "UNKNOWN", "topic_recreated",
        {**committed((3990, 5), topic_id="old"), "ends": ends((100, 9), (3000, 90), topic_id="new")},
    ),
    "the commit names no id, and the topic was made anew after it": (
        "UNKNOWN", "topic_recreated",
        {**committed((2990, 5)), "ends": ends((100, 9), topic_id="old") + ends((3000, 90), topic_id="new")},
    ),
    "the commit names no id, and came after the topic was made anew": (
        "OK", "caught_up",
        {**committed((3010, 90)), "ends": ends((100, 9), topic_id="old") + ends((3000, 90), topic_id="new")},
    ),
    "the offset is lost in a hole": (
        "UNKNOWN", "history_hole",
        {"offset_history": [{"from_time": 500, "to_time": 600, "from_offset": 1, "to_offset": 9, "is_open": False,
                             "committed_offset": 5, "ended_by": "coverage_hole"}], "ends": RISING},
    ),
    "owned, and the log is empty": (
        "OK", "nothing_to_read", {"ownership_intervals": OWNED, "ends": ends((100, 7), (3000, 7), log_start_offset=7)},
    ),
    "owned, messages came, nothing is committed": (
        "STOP", "never_committed", {"ownership_intervals": OWNED, "ends": RISING},
    ),
    "owned, and all messages are older": (
        "UNKNOWN", "never_committed", {"ownership_intervals": [{"from_time": 3995}], "ends": RISING},
    ),
    "owned for long, and no message came": (
        "UNKNOWN", "never_committed", {"ownership_intervals": OWNED, "ends": ends((100, 1000), (3990, 1000))},
    ),
    "it went back while the group had members": (
        "REWIND", "rewound", {**committed((3000, 900), (3500, 400), (3990, 500)), "ends": RISING},
    ),
    "nothing is left to read": ("OK", "caught_up", {**committed((3000, 4990)), "ends": RISING}),
    "it is beyond the end of the newest snapshot": ("OK", "caught_up", {**committed((3999, 5100)), "ends": RISING}),
    "what is left is seconds old": (
        "OK", "caught_up", {**committed((3000, 4970)), "ends": ends((3900, 4900), (4000, 5000))},
    ),
    "the log ended when it went silent": (
        "UNKNOWN", "log_ended",
        {**committed(*every(2, 2000, 2990, 1500, 1)), "ends": RISING, "history_coverage": [{"to_time": 2990}]},
    ),
    "it has stopped committing": (
        "STOP", "silent", {**committed(*every(2, 2000, 2990, 1500, 1)), "ends": RISING},
    ),
    "it commits the same offset while messages come": (
        "STALL", "stands_still", {**committed(*every(10, 1500, 3990, 1000)), "ends": RISING},
    ),
    "the lag grows": (
        "WARN", "falls_behind", {**committed(*every(10, 100, 3990, 100, 1)), "ends": RISING},
    ),
    "the lag is large and does not grow": (
        "OK", "keeps_up", {**committed(*every(1, 100, 3990, 100, 1)), "ends": RISING},
    ),
    "one snapshot shows no trend": (
        "UNKNOWN", "too_few", {**committed(*every(10, 3000, 3990, 100, 1)), "ends": ends((3900, 4990))},
    ),
    "it committed last while the clock went back": (
        "UNKNOWN", "clock_went_back",
        {**committed(*every(2, 2000, 2990, 1500, 1)), "ends": RISING,
         "doubts": (Doubt(2_980_000_000, 3_100_000_000, 0),)},
    ),
    "the coordinator holds nothing of it any more": (
        "OK", "nothing_held",
        {"commits": committed((3990, 5))["commits"], "ends": RISING},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_decides(case: str) -> None:
    verdict, rule, given = CASES[case]
    row = judged(**given)
    assert (row["own_verdict"], row["rule"]) == (verdict, rule), row["reason"]


def test_every_rule_has_a_case() -> None:
    from schemas.words.lag import OwnRule

    assert {rule for _, rule, _ in CASES.values()} == set(OwnRule) - {OwnRule.WORST_PARTITION}


def outcome(**given: Any) -> tuple[str, str]:
    row = judged(**given)
    return row["own_verdict"], row["rule"]


# Subscriptions and members

GONE = CASES["no member subscribes to the topic"][2]


@pytest.mark.parametrize(
    "changed",
    [
        {"ownership_intervals": OWNED},
        {"group_state_intervals": left_at(3000)},
        {"generation_members": [{"subscribed_topics": ["u"]}, {"member_id": "n", "subscribed_topics": None}]},
        {"generation_members": [{"subscribed_topics": ["u"]}, {"member_id": "n", "subscribed_topics": ["u", "t"]}]},
        {"generation_members": [{"subscribed_topics": ["u"]}, {"assignment_offset": 9, "subscribed_topics": ["t"]}]},
        {"generation_members": []},
    ],
    ids=["owned", "no members", "one unknown", "one subscribes", "newer assignment", "none known"],
)
def test_a_topic_counts_as_not_subscribed_only_where_every_member_says_so(changed: dict[str, Any]) -> None:
    assert outcome(**GONE | changed)[1] == "silent"


def test_members_that_left_have_no_say() -> None:
    left = {"member_id": "n", "change": "left", "subscribed_topics": None}
    assert outcome(**GONE | {"generation_members": [{"subscribed_topics": ["u"]}, left]})[1] == "not_subscribed"


@pytest.mark.parametrize(
    ("states", "last_commit", "verdict"),
    [
        (left_at(399), 300, ("OK", "not_in_use")),
        (left_at(401), 300, ("STOP", "silent")),
        (EMPTY, 390, ("OK", "not_in_use")),
        (EMPTY, 410, ("STOP", "silent")),
        ([{"state": None, "num_members": None}], 300, ("STOP", "silent")),
        ([], 300, ("STOP", "silent")),
    ],
)
def test_an_empty_group_alarms_only_where_it_was_used_within_the_window(
    states: list[Row], last_commit: int, verdict: tuple[str, str]
) -> None:
    steps = every(10, last_commit - 100, last_commit, 5, 1)
    given = {**committed(*steps), "ends": RISING, "group_state_intervals": states}
    assert outcome(**given) == verdict


def test_share_groups_and_standbys_commit_nothing_here() -> None:
    shared = [{"from_time": 100, "group_type": "share"}, {"from_time": 100, "group_type": "streams", "role": "standby"}]
    given = history(NOW, ownership_intervals=shared, ends=RISING, group_state_intervals=MEMBER)
    assert verdict_rows(given, BurrowRules(), OwnRules()).num_rows == 0


@pytest.mark.parametrize("about", [{"phase": "held"}, {"to_time": 3000, "to_offset": 9}])
def test_a_partition_whose_owner_is_away_or_gone_has_no_row(about: Row) -> None:
    owned = [{"from_time": 100} | about]
    given = history(NOW, ownership_intervals=owned, ends=RISING, group_state_intervals=MEMBER)
    assert verdict_rows(given, BurrowRules(), OwnRules()).num_rows == 0


# Rewinds


def back(*steps: tuple[float, int], **changed: Any) -> tuple[str, str]:
    return outcome(**{**committed(*steps), "ends": RISING} | changed)


def test_a_later_larger_rewind_does_not_hide_after_one_that_was_made_up_for() -> None:
    assert back((3000, 4000), (3400, 3900), (3500, 4100), (3980, 4000))[1] == "rewound"
    row = judged(**committed((3000, 4000), (3400, 3900), (3600, 3950), (3980, 3000)), ends=RISING)
    assert row["reason"] == (
        "committed offset 3,000, 1,000 messages below offset 4,000, which it had committed before: "
        "a rewind in 2 steps, the last at 1970-01-01T01:06:20Z"
    )
    assert row["since_time"].timestamp() == 3980


def test_a_rewind_that_is_made_up_for_or_older_than_the_window_is_none() -> None:
    assert back((3000, 4000), (3400, 3900), (3990, 4000))[1] != "rewound"
    assert back((3000, 4000), (3400, 3900), (3990, 3999))[1] == "rewound"
    assert back((300, 4000), (399, 3900), (3990, 3950))[1] != "rewound"
    assert back((300, 4000), (401, 3900), (3990, 3950))[1] == "rewound"


@pytest.mark.parametrize(
    "changed",
    [
        {"group_state_intervals": [{"to_time": 3000, "to_offset": 90, "ended_by": "next_state"},
                                   {"num_members": 0, "from_time": 3000, "from_offset": 90,
                                    "to_time": 3600, "to_offset": 102, "ended_by": "next_state"},
                                   {"from_time": 3600, "from_offset": 102}]},
        {"group_state_intervals": []},
        {"ends": ends((100, 4500), (3990, 3999))},
    ],
    ids=["reset of an empty group", "members unknown", "the log lost its end"],
)  # fmt: skip
def test_steps_back_that_something_explains_are_no_rewinds(changed: dict[str, Any]) -> None:
    steps = (3000, 4000), (3400, 3900), (3990, 3950)
    assert back(*steps)[1] == "rewound"
    assert back(*steps, **changed)[1] != "rewound"


def test_an_offset_after_a_deletion_or_of_another_topic_id_is_no_step_back() -> None:
    given = committed((3000, 4000), (3500, 3900))
    given["offset_history"][1] |= {"previous_offset": None, "delta": None}
    assert outcome(**given, ends=RISING)[1] != "rewound"
    given = committed((3000, 4000), (3500, 3900), (3600, 3890))
    given["offset_history"][1] |= {"previous_offset": None, "delta": None}
    assert judged(**given, ends=RISING)["reason"].startswith("committed offset 3,890, 10 messages below offset 3,900,")
    given = committed((3000, 4000), (3500, 3900))
    for row, topic_id in zip(given["offset_history"], ("old", "new"), strict=True):
        row["topic_id"] = topic_id
    assert outcome(**given, ends=RISING)[1] != "rewound"


# Lag and time lag


def test_lag_that_is_allowed_or_cannot_be_read_any_more_is_none() -> None:
    given = {**committed((3000, 4980)), "ends": ends((3100, 4990), (3990, 4990))}
    assert outcome(**given, rules=OwnRules(allowed_lag=10)) == ("OK", "caught_up")
    assert outcome(**given, rules=OwnRules(allowed_lag=9))[1] != "caught_up"
    lost = {**committed((3000, 10)), "ends": ends((3100, 4990), (3990, 4990), log_start_offset=4990)}
    assert outcome(**lost) == ("OK", "caught_up")
    assert judged(**lost)["lag_floor"] == 4980


@pytest.mark.parametrize(("offset", "time_lag"), [(4940, 60_000), (4941, 59_000), (4000, 1_000_000)])
def test_the_age_of_the_oldest_unread_message_lies_on_a_straight_line_between_snapshots(
    offset: int, time_lag: int
) -> None:
    row = judged(**committed((3500, offset)), ends=ends((3000, 4000), (4000, 5000)))
    assert row["time_lag_ms"] == time_lag
    assert (row["rule"] == "caught_up") == (time_lag < 60_000)


def test_time_lag_is_unknown_before_the_first_snapshot_and_zero_with_nothing_to_read() -> None:
    assert judged(**committed((3500, 3999)), ends=ends((3000, 4000), (4000, 5000)))["time_lag_ms"] is None
    assert judged(**committed((3500, 5000)), ends=ends((3000, 4000), (4000, 5000)))["time_lag_ms"] == 0
    assert judged(**committed((3500, 5000)))["time_lag_ms"] is None


# Silence


def silence(cadence: int, last: int, points: list[Row], **changed: Any) -> tuple[str, str]:
    steps = every(cadence, last - 10 * cadence, last, 1500, 1)
    return outcome(**{**committed(*steps), "ends": points} | changed)


def test_silence_is_held_against_the_cadence_of_the_partition() -> None:
    points = ends((100, 1000), (3000, 1510), (3400, 2000), (3990, 3000))
    # It had messages to read from 3,400 on: 600 s, and it commits every 60 s or 59 s.
    assert silence(60, 3300, points)[1] != "silent"
    assert silence(59, 3300, points) == ("STOP", "silent")


def test_silence_without_new_messages_is_never_a_stop() -> None:
    assert silence(2, 3000, ends((100, 1000), (3001, 4000), (3990, 4000)))[0] != "STOP"
    assert silence(2, 3000, ends((100, 1000), (3001, 4000), (3990, 4001)))[0] == "STOP"
    # Whether what one snapshot shows came before or after the commit is not known.
    assert silence(2, 3000, ends((100, 1000), (3990, 4001)))[0] != "STOP"


def test_a_message_after_a_long_quiet_time_is_no_stop() -> None:
    quiet = ends((100, 1000), (2500, 1510), (3960, 1510), (3980, 1511), (3990, 1512))
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
        == "no commit for 16 min 40 s, before that one every 1 min; 1,400 or more messages were written since"
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
    assert outcome(**given, transactions=transactions, ends=RISING) == ("STOP", "silent")


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


def test_lag_against_the_ends_of_another_topic_is_unknown() -> None:
    row = judged(**CASES["the topic was made anew"][2])
    assert (row["lag_floor"], row["time_lag_ms"]) == (None, None)


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


def doubt(begin: int, end: int) -> tuple[Doubt]:
    return (Doubt(begin * 1_000_000, end * 1_000_000, 0),)


STOPPED = committed(*every(2, 2000, 2990, 1500, 1))


@pytest.mark.parametrize(
    ("begin", "end", "rule"),
    [
        (2980, 3100, "clock_went_back"),
        # Its last commit came when the doubt was over, or before it began.
        (1000, 2000, "silent"),
        (2990, 3100, "silent"),
        (2989, 2991, "clock_went_back"),
    ],
)
def test_who_committed_last_while_the_clock_was_in_doubt_is_not_judged_by_times(
    begin: int, end: int, rule: str
) -> None:
    row = judged(**STOPPED, ends=RISING, doubts=doubt(begin, end))
    assert (row["rule"], row["own_verdict"]) == (rule, "STOP" if rule == "silent" else "UNKNOWN")


@pytest.mark.parametrize(("end", "rule"), [(400, "stands_still"), (401, "clock_went_back")])
def test_a_doubt_that_was_over_before_the_window_counts_no_more(end: int, rule: str) -> None:
    given = committed((200, 100), *every(10, 410, 3990, 1000))
    assert judged(**given, ends=RISING, doubts=doubt(150, end))["rule"] == rule


def test_equal_commits_while_the_clock_is_in_doubt_show_no_silence() -> None:
    """The value began before the doubt; it was committed again within it."""
    given = committed(*every(100, 1000, 2900, 1500))
    assert judged(**given, ends=RISING, doubts=doubt(2800, 3000))["rule"] == "clock_went_back"


def test_an_owner_since_a_time_in_doubt_has_perhaps_just_begun() -> None:
    given: dict[str, Any] = {"ownership_intervals": [{"from_time": 1000}], "ends": RISING}
    assert judged(**given)["rule"] == "never_committed"
    assert judged(**given, doubts=doubt(900, 1100))["rule"] == "clock_went_back"
    assert judged(**given, doubts=doubt(1000, 1100))["rule"] == "never_committed"


@pytest.mark.parametrize(("end", "told"), [(4000, ("caught_up", 0)), (4001, ("clock_went_back", None))])
def test_while_the_clock_is_behind_the_newest_commit_may_be_younger_than_the_newest_end(
    end: int, told: tuple[str, int | None]
) -> None:
    row = judged(**committed((3000, 4990)), ends=RISING, doubts=doubt(2900, end))
    assert (row["rule"], row["lag_floor"]) == told
    assert (row["time_lag_ms"] is None) == (told[1] is None)


def test_a_doubt_that_begins_after_the_time_says_nothing_of_it() -> None:
    assert judged(**STOPPED, ends=RISING, doubts=doubt(4000, 5000))["rule"] == "silent"


def test_a_step_back_is_one_by_the_order_of_the_log() -> None:
    given = committed((3000, 900), (3500, 400), (3990, 500))
    assert judged(**given, ends=RISING, doubts=doubt(2900, 3999))["rule"] == "rewound"


def test_a_group_is_not_out_of_use_for_what_a_clock_says() -> None:
    given = {**committed((300, 5)), "ends": RISING, "group_state_intervals": EMPTY}
    assert judged(**given, doubts=doubt(200, 5000))["rule"] == "clock_went_back"


# As of


def test_nothing_after_the_time_counts() -> None:
    early, late = every(2, 2000, 2990, 1500, 1), every(2, 4001, 4101, 4990, 0)
    given = committed(*early, *late)
    states = [{"to_time": 4100, "to_offset": 900, "ended_by": "next_state"},
              {"state": "Empty", "num_members": 0, "from_time": 4100, "from_offset": 900}]  # fmt: skip
    members = [{"subscribed_topics": ["t"]}, {"assignment_offset": 900, "subscribed_topics": ["u"]}]
    row = judged(**given, ends=[*RISING, *ends((4050, 9000))], group_state_intervals=states, generation_members=members)
    assert (
        row["reason"] == "no commit for 16 min 50 s, before that one every 2 s; 990 or more messages were written since"
    )


def test_a_value_that_is_committed_on_after_the_time_was_committed_last_before_it() -> None:
    row = judged(**committed(*every(10, 1500, 4500, 1000)), ends=RISING)
    assert (row["last_commit_time"].timestamp(), row["rule"]) == (4000, "stands_still")


@pytest.mark.parametrize(("second", "rule"), [(399, "not_in_use"), (400, "caught_up")])
def test_a_group_without_members_is_in_use_by_its_commits_of_the_window(second: int, rule: str) -> None:
    row = judged(**committed((second, 4990)), ends=RISING, group_state_intervals=EMPTY)
    assert row["rule"] == rule


@pytest.mark.parametrize(("second", "rule"), [(399, "too_few"), (400, "keeps_up")])
def test_a_snapshot_at_the_begin_of_the_window_counts(second: int, rule: str) -> None:
    given = {**committed((390, 10), (3950, 4000)), "ends": ends((second, 1000), (3990, 4990))}
    assert judged(**given)["rule"] == rule


@pytest.mark.parametrize(("second", "is_rewound"), [(400, False), (401, True)])
def test_a_rewind_within_the_window_counts(second: int, is_rewound: bool) -> None:
    row = judged(**committed((300, 100), (second, 50)), ends=RISING)
    assert (row["rule"] == "rewound") is is_rewound


@pytest.mark.parametrize(("second", "rule"), [(400, "not_in_use"), (401, "caught_up")])
def test_a_group_without_members_is_in_use_by_the_members_that_it_had_in_the_window(second: int, rule: str) -> None:
    row = judged(**committed((300, 4990)), ends=RISING, group_state_intervals=left_at(second))
    assert row["rule"] == rule


@pytest.mark.parametrize(("ended", "last_commit"), [(NOW, 3999), (NOW + 1, 2990)])
def test_a_transaction_that_ends_at_the_very_time_has_committed(ended: int, last_commit: int) -> None:
    given = committed(*every(2, 2000, 2990, 1500, 1))
    given["commits"] += [
        {"record_offset": 9000, "record_time": 3999, "commit_time": 3999, "committed_offset": 4000,
         "is_transactional": True, "producer_id": 3}
    ]  # fmt: skip
    transactions = [{"producer_id": 3, "first_offset": 9000, "outcome": "committed", "end_time": ended}]
    given["offset_history"][-1] |= {"to_time": ended, "to_offset": 9001, "ended_by": "commit", "is_open": False}
    # When it was committed last is told by a row that ends later.
    held = {"from_time": ended, "from_offset": 9001, "committed_offset": 4000, "last_commit_time": NOW + 50}
    given["offset_history"].append(held | {"commit_time": 3999, "via": "transaction"})
    row = judged(**given, transactions=transactions, ends=RISING)
    assert row["last_commit_time"].timestamp() == last_commit


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_a_partition_is_judged_by_its_own_snapshots_whatever_others_there_are(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of some there are few snapshots, or none in the window; lags are worked out in pieces of so many."""
    monkeypatch.setattr("udfs.rules.verdicts.window_lags.MOST_SNAPSHOTS", most)
    seen = {0: (100, 1000, 2000, 3000, 3990), 1: (2000, 3000, 3990), 2: (3990,), 3: (100, 1000, 2000, 3000, 3990)}
    rise = {0: 10, 1: 10, 2: 10, 3: -1}
    alone = {}
    for number, times in seen.items():
        steps = committed(*every(10, 100, 3990, 5, rise=1), first_offset=100 + 1000 * number, partition=number)
        points = ends(*((time, 5 + time // 10 + 500 + rise[number] * time // 100) for time in times), partition=number)
        alone[number] = {**steps, "ends": points}
    together = {name: [row for given in alone.values() for row in given[name]] for name in alone[0]}
    together["commits"].sort(key=lambda row: int(row["record_offset"]))
    states: dict[str, Any] = {"group_state_intervals": MEMBER}
    rows = verdict_rows(history(NOW, **together, **states), BurrowRules(), OwnRules()).to_pylist()
    found = {row["partition"]: (row["own_verdict"], row["rule"], row["reason"]) for row in rows}
    for number, given in alone.items():
        row = judged(**given)
        assert found[number] == (row["own_verdict"], row["rule"], row["reason"])
    assert [found[number][1] for number in seen] == ["falls_behind", "falls_behind", "too_few", "keeps_up"]
    assert found[1][2].endswith("(3 snapshots)")


@pytest.mark.parametrize(("known_until", "shown"), [(3950, "(3 snapshots)"), (3990, "(4 snapshots)")])
def test_a_trend_ends_where_the_log_does(known_until: int, shown: str) -> None:
    """Lag at later snapshots rests on commits that may be missing."""
    covered: list[Row] = [{"first_offset": 0, "from_time": 0, "to_time": known_until}]
    row = judged(**committed(*every(10, 100, 3950, 100, rise=1)), ends=RISING, history_coverage=covered)
    assert (row["rule"], row["reason"].endswith(shown)) == ("falls_behind", True), row["reason"]
