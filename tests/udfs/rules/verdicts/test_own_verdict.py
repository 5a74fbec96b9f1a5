"""Our own verdict, rule by rule, of histories whose answers are plain from what they say."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.own_verdicts import EMPTY, MEMBER, NOW, OWNED, RISING, every, judged, left_at, outcome
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.lag.doubtful_times import Doubt
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

# What each says of the partition, the rule, and the history.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "no member subscribes to the topic": (
        "OK", "not_subscribed",
        {**committed(*every(10, 100, 200, 5)), "ends": RISING, "generation_members": [{"subscribed_topics": ["u"]}]},
    ),
    "nobody has used the group within the window": (
        "OK", "not_in_use", {**committed((300, 4990)), "ends": RISING, "group_state_intervals": EMPTY},
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
        {"offset_history": [{"from_time": 500, "to_time": 600, "from_record_offset": 1, "to_record_offset": 9,
        "is_provisional": False,
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
    "it is beyond the end of a snapshot long after it": (
        "UNKNOWN", "beyond_end", {**committed((3000, 5100)), "ends": RISING},
    ),
    "what is left is seconds old": (
        "OK", "caught_up", {**committed((3000, 4970)), "ends": ends((3900, 4900), (4000, 5000))},
    ),
    "the log ended when it went silent": (
        "UNKNOWN", "log_ended",
        {**committed(*every(2, 2000, 2990, 1500, 1)), "ends": RISING, "history_coverage": [{"to_time": 2990}]},
    ),
    "it has stopped committing": (
        "STOP", "group_silent", {**committed(*every(2, 2000, 2990, 1500, 1)), "ends": RISING},
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
    "nobody reads it any more": (
        "UNKNOWN", "no_reader", {**committed((3000, 900)), "ends": ends((100, 1000), (3990, 1000))},
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

    # What needs several partitions is in test_silences.py, what is asked of groups without members in test_absences.py.
    others = {OwnRule.WORST_PARTITION, OwnRule.MEMBER_SILENT, OwnRule.SILENT}
    others |= {OwnRule.GROUP_DOWN, OwnRule.WENT_AWAY_UNSEEN, OwnRule.RETIRED}
    assert {rule for _, rule, _ in CASES.values()} == set(OwnRule) - others


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
    assert outcome(**GONE | changed)[1] in ("group_silent", "retired")


def test_members_that_left_have_no_say() -> None:
    left = {"member_id": "n", "change": "left", "subscribed_topics": None}
    assert outcome(**GONE | {"generation_members": [{"subscribed_topics": ["u"]}, left]})[1] == "not_subscribed"


@pytest.mark.parametrize(
    ("states", "last_commit", "rule"),
    [
        (left_at(399), 300, "not_in_use"),
        (left_at(401), 300, "caught_up"),
        (EMPTY, 390, "not_in_use"),
        (EMPTY, 410, "caught_up"),
        ([{"state": None, "num_members": None}], 300, "caught_up"),
        ([], 300, "caught_up"),
    ],
)
def test_a_group_is_in_use_by_members_or_commits_within_the_window(
    states: list[Row], last_commit: int, rule: str
) -> None:
    steps = every(10, last_commit - 100, last_commit, 4980, 1)
    given = {**committed(*steps), "ends": RISING, "group_state_intervals": states}
    assert outcome(**given) == ("OK", rule)


def test_share_groups_and_standbys_commit_nothing_here() -> None:
    shared = [{"from_time": 100, "group_type": "share"}, {"from_time": 100, "group_type": "streams", "role": "standby"}]
    given = history(NOW, ownership_intervals=shared, ends=RISING, group_state_intervals=MEMBER)
    assert verdict_rows(given, BurrowRules(), OwnRules()).num_rows == 0


@pytest.mark.parametrize("about", [{"phase": "held"}, {"to_time": 3000, "to_record_offset": 9}])
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
        {"group_state_intervals": [{"to_time": 3000, "to_record_offset": 90, "ended_by": "next_state"},
                                   {"num_members": 0, "from_time": 3000, "from_record_offset": 90,
                                    "to_time": 3600, "to_record_offset": 102, "ended_by": "next_state"},
                                   {"from_time": 3600, "from_record_offset": 102}]},
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
    assert judged(**lost)["lag"] == 4980


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


def test_lag_against_the_ends_of_another_topic_is_unknown() -> None:
    row = judged(**CASES["the topic was made anew"][2])
    assert (row["lag"], row["time_lag_ms"]) == (None, None)
