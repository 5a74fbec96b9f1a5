"""Each kind of odd commit by hand, the bounds of each, and what is none."""

from dataclasses import replace
from typing import Any

import pytest

from tests.builders.tables.measured import odd_commit_rows, reset_rows
from tests.builders.tables.offset_situations import Row, Situation, at
from udfs.rules.facts.effective_commits import counted_commits

ENDS = {0: (50, 1000), 1: (50, 1000)}


def findings(situation: Situation, settled_from: int | None = None) -> list[Row]:
    rows: list[Row] = odd_commit_rows(situation.rows(), settled_from).to_pylist()
    return rows


def findings_of(situation: Situation) -> list[tuple[Any, ...]]:
    return [(row["kind"], row["partition"], row["num_commits"], row["num_messages"]) for row in findings(situation)]


def members() -> Situation:
    return Situation().own(0, {0: "a", 1: "b"}).commit(10, {0: 100, 1: 200})


def test_commits_to_a_group_whose_members_left_are_reported_by_day() -> None:
    situation = members().state(20, "Empty", 0).commit(30, {0: 101}).commit(40, {0: 105}).commit(86_400, {0: 106})
    first, second = findings(situation)
    assert (first["kind"], first["num_commits"], first["last_committed_offset"]) == ("group_empty", 2, 105)
    assert (first["evidence_first_offset"], first["evidence_last_offset"], first["confidence"]) == (4, 5, "likely")
    assert (first["first_time"].second, first["last_time"].second) == (30, 40)
    assert first["detail"] == "committed offset 105, but the group has had no members since the record at offset 3"
    assert (second["day_time"].day, second["num_commits"]) == (first["day_time"].day + 1, 1)


UNSURE: dict[str, Any] = {"is_transactional": None}


@pytest.mark.parametrize(("of", "confidence"), [(({}, {}), "likely"), (({}, UNSURE), "possible"),
                                               ((UNSURE, {}), "possible")])  # fmt: skip
def test_a_finding_of_a_commit_that_may_have_been_aborted_is_only_possible(of: Any, confidence: str) -> None:
    """Of two commits of one day; and of a step back, by what it steps back from or to."""
    first, second = of
    empty = members().state(20, "Empty", 0).commit(30, {0: 101}, **first).commit(40, {0: 105}, **second)
    back = Situation().own(0, {0: "a"}).commit(10, {0: 100}, **first).commit(20, {0: 90}, **second)
    assert [(row["kind"], row["confidence"]) for row in findings(empty)] == [("group_empty", confidence)]
    assert [(row["kind"], row["confidence"]) for row in findings(back)] == [("rewind", confidence)]


def test_a_commit_with_a_producer_is_of_a_transaction_for_certain_even_if_the_flag_is_missing() -> None:
    """The coordinator takes it so, and the marker that ended it is in the log."""
    situation = members().state(20, "Empty", 0).commit(30, {0: 101}, producer_id=7, **UNSURE)
    assert [row["confidence"] for row in findings(situation)] == ["likely"]


def test_a_consumer_group_without_members_is_empty_too() -> None:
    empty = Situation().state(0, "Empty", 0, group_type="consumer", protocol_type=None)
    assert findings_of(empty.commit(10, {0: 3})) == [("group_empty", 0, 1, None)]


def test_a_committed_transaction_counts_and_an_aborted_one_does_not() -> None:
    for outcome, result in (("committed", [("group_empty", 0, 1, None)]), ("aborted", []), ("open", [])):
        assert findings_of(members().state(20, "Empty", 0).transaction(30, {0: 110}, outcome)) == result


def test_an_admin_reset_is_not_reported_twice() -> None:
    situation = members().state(20, "Empty", 0).admin(30, {0: 90, 1: 200})
    assert [row["actor"] for row in reset_rows(situation.rows(), None).to_pylist()] == ["admin_likely"]
    assert findings_of(situation) == []


def test_a_step_back_of_one_partition_is_a_rewind() -> None:
    situation = members().commit(30, {0: 90}).commit(31, {0: 95}).commit(32, {0: 80})
    (row,) = findings(situation)
    assert (row["kind"], row["num_commits"], row["num_messages"]) == ("rewind", 2, 10 + 15)
    assert row["detail"] == "committed offset 80, lower than 95 before"


@pytest.mark.parametrize(("end", "number"), [(100, 2 + 70), (90, None)])
def test_a_rewind_from_beyond_the_end_is_over_no_more_than_the_log_had(end: int, number: int | None) -> None:
    """Where the end was is not known if it differs before and after."""
    situation = Situation().own(0, {0: "a"}).snapshot(5, {0: (0, end)}).commit(10, {0: 52}).commit(20, {0: 50})
    situation.snapshot(25, {0: (0, end)}).commit(30, {0: 1 << 62}).snapshot(35, {0: (0, 100)}).commit(40, {0: 30})
    assert [row for row in findings_of(situation) if row[0] == "rewind"] == [("rewind", 0, 2, number)]


def test_a_step_back_of_a_new_owner_is_a_rewind() -> None:
    situation = members().own(20, {0: "b", 1: "a"}).commit(30, {0: 90, 1: 190})
    assert findings_of(situation) == [("rewind", 0, 1, 10), ("rewind", 1, 1, 10)]


def moved(second: float, committed: int) -> Situation:
    """Partition 0 goes from a to b, who reads on from 100."""
    return members().own(20, {0: "b", 1: "a"}).commit(30, {0: 140}).commit(second, {0: committed})


@pytest.mark.parametrize(
    ("second", "committed", "kind"),
    [
        (40, 120, "after_move"),
        (40, 100, "after_move"),
        (40, 99, "rewind"),
        (320, 120, "after_move"),
        (321, 120, "rewind"),
    ],
)
def test_a_commit_of_the_previous_owner_is_reported_as_such(second: float, committed: int, kind: str) -> None:
    assert [(row["kind"], row["num_messages"]) for row in findings(moved(second, committed))] == [
        (kind, 140 - committed)
    ]


def test_a_first_commit_of_the_new_owner_is_its_own() -> None:
    assert findings_of(members().own(20, {0: "b", 1: "a"}).commit(30, {0: 99})) == [("rewind", 0, 1, 1)]


def test_a_partition_that_nobody_owned_for_five_minutes_must_not_be_committed() -> None:
    situation = members().own(20, {0: "a"}).commit(320, {1: 210}).commit(321, {1: 220})
    (row,) = findings(situation)
    assert (row["kind"], row["partition"], row["num_commits"]) == ("partition_not_owned", 1, 1)
    assert row["detail"] == "committed offset 220, but no member owned the partition; number of members: 1"


def test_a_topic_that_nobody_subscribes_to_must_not_be_committed() -> None:
    situation = members().own(20, {0: "a"}).commit(400, {0: 130}).commit(400, {0: 7}, topic="u")
    assert [(row["kind"], row["topic"]) for row in findings(situation)] == [("topic_not_subscribed", "u")]


def test_a_topic_that_a_member_owned_just_now_may_be_committed() -> None:
    """Members do not subscribe to u any more, and partition 0 of it was owned until 110 s before."""
    situation = members().own(20, {0: "a"})
    situation.owned.append(
        {
            **situation.owned[0],
            "topic": "u",
            "from_time": at(0),
            "to_time": at(290),
            "to_record_offset": 5,
            "is_provisional": False,
        }
    )
    assert findings_of(situation.commit(400, {3: 7}, topic="u")) == []
    situation.owned[-1]["to_time"] = at(99)
    assert [kind for kind, *_ in findings_of(situation)] == ["topic_not_subscribed"]


def test_nobody_is_accused_when_a_subscription_is_unknown() -> None:
    situation = members().own(20, {0: "a"}).commit(400, {0: 7}, topic="u")
    situation.members[-1]["subscribed_topics"] = None
    assert findings_of(situation) == []


def test_nobody_is_accused_in_a_group_that_just_begins() -> None:
    assert findings_of(Situation().own(0, {0: "a"}).commit(299, {1: 7})) == []
    assert [kind for kind, *_ in findings_of(Situation().own(0, {0: "a"}).commit(301, {1: 7}))] == [
        "partition_not_owned"
    ]


def in_log(committed: int, before: Any = ENDS, after: Any = ENDS, epochs: tuple[int, int] = (1, 1)) -> Situation:
    situation = Situation().own(0, {0: "a", 1: "b"}).snapshot(20, before, epochs[0])
    return situation.commit(40, {0: committed}).snapshot(50, after, epochs[1])


@pytest.mark.parametrize(
    ("committed", "result"),
    [
        (1001, [("beyond_end", 0, 1, 1)]),
        (1000, []),
        (50, []),
        (49, [("below_start", 0, 1, 1)]),
        (0, [("below_start", 0, 1, 50)]),
        (-1, [("negative", 0, 1, None)]),
    ],
)
def test_offsets_that_are_no_place_in_the_log(committed: int, result: list[tuple[Any, ...]]) -> None:
    assert findings_of(in_log(committed)) == result


def test_a_start_is_that_of_a_snapshot_that_was_surely_taken_before() -> None:
    situation = Situation().own(0, {0: "a"}).snapshot(20, ENDS).snapshot(35, {0: (60, 1000)}).commit(40, {0: 49})
    assert [row["detail"] for row in findings(situation)] == [
        "committed offset 49, before the start of the partition, which the previous snapshot has at 50"
    ]


@pytest.mark.parametrize(("begin", "end", "is_told"), [(39, 41, False), (40, 60, True), (30, 40, True), (0, 99, False)])
@pytest.mark.parametrize("committed", [1001, 49])
def test_nobody_is_accused_by_times_that_are_in_doubt(committed: int, begin: int, end: int, is_told: bool) -> None:
    """The commit is of 40 s."""
    assert bool(findings_of(in_log(committed).doubt(begin, end))) == is_told


@pytest.mark.parametrize(("committed", "second", "own_ends"), [
    (1001, 50, [(6, "likely"), (5, None), (0, None), (None, "possible")]),
    (49, 20, [(5, "likely"), (6, None), (9, None), (None, "possible")]),
])  # fmt: skip
def test_a_snapshot_is_older_or_younger_than_a_commit_by_the_end_of_the_offsets_partition(
    committed: int, second: int, own_ends: list[tuple[int | None, str | None]]
) -> None:
    """The time that a snapshot gives itself may be wrong. The commit is record 5."""
    for own_end, expected in own_ends:
        situation = in_log(committed)
        situation.commits[0] |= {"record_offset": 5}
        situation = situation if own_end is None else situation.own_end(second, own_end)
        assert [row["confidence"] for row in findings(situation)] == ([] if expected is None else [expected])


def test_a_negative_offset_is_none_by_any_clock() -> None:
    assert [kind for kind, *_ in findings_of(in_log(-1).doubt(0, 99))] == ["negative"]


LOWER, ANEW = {0: (50, 900)}, {0: (0, 1000)}
UNPROVEN = {
    "the log lost its end": in_log(950, after=LOWER),
    "another leader": in_log(1001, epochs=(1, 2)),
    "no epochs": in_log(1001, epochs=(None, None)),  # type: ignore[arg-type]
    "the topic is new": in_log(49, after=ANEW),
    "no snapshot before": Situation().own(0, {0: "a"}).commit(40, {0: 1001}).snapshot(50, ENDS),
    "no snapshot after": Situation().own(0, {0: "a"}).snapshot(20, ENDS).commit(40, {0: 1001}),
    "a snapshot that may have been taken later": Situation().own(0, {0: "a"}).snapshot(35, ENDS).commit(40, {0: 49}),
}


@pytest.mark.parametrize("situation", UNPROVEN.values(), ids=UNPROVEN)
def test_what_snapshots_do_not_prove_is_not_reported(situation: Situation) -> None:
    assert findings_of(situation) == []


NOTHING = {
    "reading": members().commit(30, {0: 150, 1: 260}),
    "a rebalance": members().own(20, {0: "b", 1: "a"}).commit(30, {0: 150, 1: 260}),
    "the last commit of a revoked partition": members().own(20, {0: "a"}).commit(30, {1: 210}),
    "the first commits of a group": Situation().own(0, {0: "a"}).commit(10, {0: 0}),
    "a simple consumer": Situation().state(0, "Empty", 0, protocol_type=None).commit(10, {0: 5}).commit(20, {0: 9}),
    "a conversion": members().state(20, "Stable", 2, group_type="consumer", protocol_type=None).commit(900, {0: 101}),
    "another protocol": Situation().state(0, "Stable", 1, protocol_type="connect").commit(900, {0: 3}),
    "a partition without owner while the group rebalances": members()
    .own(20, {0: "a"})
    .state(310, "CompletingRebalance", 1)
    .commit(321, {1: 220}),
    "a seek within what is read": members().commit(30, {0: 100}).commit(40, {0: 100}),
}


@pytest.mark.parametrize("situation", NOTHING.values(), ids=NOTHING)
def test_what_is_in_order_gives_nothing(situation: Situation) -> None:
    assert findings_of(situation) == []


def test_a_run_counts_the_day_that_is_not_settled_as_a_whole() -> None:
    situation = members().state(20, "Empty", 0).commit(30, {0: 101}).commit(86_500, {0: 106}).commit(86_600, {0: 107})
    assert [row["num_commits"] for row in findings(situation, at(86_550))] == [2]
    assert [row["num_commits"] for row in findings(situation, at(86_399))] == [1, 2]


def test_commits_of_the_previous_owner_add_up() -> None:
    (row,) = findings(moved(40, 120).commit(41, {0: 140}).commit(42, {0: 130}))
    assert (row["kind"], row["num_commits"], row["num_messages"]) == ("after_move", 2, 20 + 10)
    assert row["confidence"] == "possible"


@pytest.mark.parametrize(
    ("since", "until", "seconds"),
    [(None, 30, [10, 20, 30]), (20, 30, [20, 30]), (10, 20, [10, 20]), (11, 29, [20])],
)
def test_commits_count_from_a_time_up_to_the_time_that_is_asked_about(
    since: int | None, until: int, seconds: list[int]
) -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 1}).commit(20, {0: 2}).commit(30, {0: 3})
    history = replace(situation.rows(), as_of_time=at(until))
    result = counted_commits(history, None if since is None else at(since))
    assert result.time.tolist() == [at(second) for second in seconds]
