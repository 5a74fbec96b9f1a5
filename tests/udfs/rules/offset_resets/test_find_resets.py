"""Each kind of move and removal by hand, who did it, and what is none."""

from dataclasses import replace
from typing import Any

import pytest

from tests.builders.tables.measured import reset_rows
from tests.builders.tables.offset_situations import Row, Situation, at

BEFORE = {0: 100, 1: 200}
WIDE = {0: (5, 1000), 1: (7, 2000)}


def events(situation: Situation, settled_from: int | None = None) -> list[Row]:
    rows: list[Row] = reset_rows(situation.rows(), settled_from).to_pylist()
    return rows


def resets_of(situation: Situation) -> list[tuple[Any, ...]]:
    return [(row["kind"], row["actor"], row["signature_score"], row["confidence"]) for row in events(situation)]


def emptied() -> Situation:
    """Members read, then leave."""
    return Situation().own(0, {0: "a", 1: "b"}).commit(10, BEFORE).state(20, "Empty", 0)


def simple(**fields: Any) -> Situation:
    return Situation().state(0, "Empty", 0, protocol_type=None).commit(10, BEFORE, **fields)


def between(situation: Situation, offsets: dict[int, int], before: Any = WIDE, after: Any = WIDE) -> Situation:
    return situation.snapshot(25, before).admin(30, offsets).snapshot(40, after)


@pytest.mark.parametrize(
    ("offsets", "kind", "score"),
    [
        ({0: 5, 1: 7}, "to_earliest", 5),
        ({0: 1000, 1: 2000}, "to_latest", 5),
        ({0: 90, 1: 190}, "shift", 5),
        ({0: 110, 1: 210}, "shift", 5),
        ({0: 90, 1: 189}, "to_offset", 4),
        ({0: 5, 1: 150}, "to_offset", 4),
        ({0: 90}, "to_offset", 3),
        ({0: 5}, "to_earliest", 4),
    ],
)
def test_a_reset_of_an_empty_group_is_of_the_kind_that_the_ends_show(
    offsets: dict[int, int], kind: str, score: int
) -> None:
    likely = "likely" if score >= 4 else "possible"
    assert resets_of(between(emptied(), offsets)) == [(kind, "admin_likely", score, likely)]


def test_a_reset_says_what_it_moved() -> None:
    (row,) = events(between(emptied(), {0: 90, 1: 260}))
    assert (row["partitions"], row["from_offsets"], row["to_offsets"]) == ([0, 1], [100, 200], [90, 260])
    assert (row["messages_reread"], row["messages_skipped"], row["num_members"]) == (10, 60, 0)
    assert (row["evidence_partition"], row["evidence_first_offset"], row["evidence_last_offset"]) == (5, 4, 5)


def test_an_end_between_two_snapshots_counts_as_the_end() -> None:
    grown = {0: (5, 300), 1: (7, 400)}
    ends = {0: (5, 200), 1: (7, 300)}
    for offsets, kind in (({0: 200, 1: 400}, "to_latest"), ({0: 199, 1: 400}, "to_offset")):
        assert [row["kind"] for row in events(between(emptied(), offsets, ends, grown))] == [kind]


def test_a_reset_to_below_zero_rereads_no_more_than_there_is() -> None:
    assert [row["messages_reread"] for row in events(emptied().admin(30, {0: -5}))] == [100]
    assert [row["messages_reread"] for row in events(between(emptied(), {0: -5}))] == [95]


def test_the_last_offset_of_a_simple_group_goes_while_the_group_is_still_there() -> None:
    situation = Situation().state(0, "Empty", 0, protocol_type=None).commit(10, {0: 100}).remove(30, (0,), "expired")
    situation.states[-1] |= {"to_record_offset": situation.offset - 1, "to_time": at(30), "is_provisional": False}
    assert [(row["group_type"], row["num_members"]) for row in events(situation)] == [("classic", 0)]


def test_without_snapshots_a_reset_is_to_some_offset() -> None:
    assert resets_of(emptied().admin(30, {0: 5, 1: 7})) == [("to_offset", "admin_likely", 4, "likely")]


@pytest.mark.parametrize(
    ("fields", "score"), [({"leader_epoch": 3}, 4), ({"metadata": "x"}, 4), ({"leader_epoch": 3, "metadata": "x"}, 3)]
)
def test_whoever_steps_back_in_an_empty_group_with_what_consumers_send_is_unknown(fields: Row, score: int) -> None:
    """alterConsumerGroupOffsets sends any leader epoch and metadata, as a program that commits for itself does."""
    situation = emptied().snapshot(25, WIDE).admin(30, {0: 90, 1: 190}, **fields).snapshot(40, WIDE)
    assert resets_of(situation) == [("shift", "unknown", score, "likely" if score > 3 else "possible")]
    marked = emptied().snapshot(25, WIDE).admin(30, {0: 90}).commit(30, {1: 190}, **fields)
    assert {row["actor"] for row in events(in_one_batch(marked).snapshot(40, WIDE))} == {"unknown"}


def in_one_batch(situation: Situation) -> Situation:
    """The commits of second 30."""
    together = [row for row in situation.commits if row["record_time"] == at(30)]
    for row in together:
        row["batch_first_offset"] = together[0]["record_offset"]
    return situation


def test_a_commit_that_moves_one_partition_less_is_no_shift() -> None:
    situation = between(emptied().admin(28, {0: 100, 1: 200, 2: 50}), {0: 90, 1: 190, 2: 50})
    assert [row["kind"] for row in events(situation) if row["at_time"].second == 30] == ["to_offset"]


def test_a_first_commit_of_an_emptied_group_by_a_tool_comes_from_nothing() -> None:
    (row,) = events(emptied().admin(30, {2: 5, 3: 9}))
    assert (row["from_offsets"], row["to_offsets"], row["messages_reread"]) == ([None, None], [5, 9], None)
    assert (row["actor"], row["kind"]) == ("admin_likely", "to_offset")


def test_a_series_of_bare_commits_to_an_emptied_group_is_reported_by_its_first_only() -> None:
    situation = emptied()
    for second in range(30, 60, 10):
        situation.admin(second, {0: 100 + second, 1: 205 + 3 * second})
    assert [row["at_time"].second for row in events(situation)] == [30]


def test_a_group_that_never_had_members_goes_back_by_itself_or_is_set_back() -> None:
    """Brokers accept an admin tool's commits for it at any time."""
    assert resets_of(simple(leader_epoch=None).admin(30, {0: 90, 1: 189})) == [("to_offset", "unknown", 4, "likely")]
    assert resets_of(simple().commit(30, {0: 90})) == [("to_offset", "unknown", 2, "possible")]


def test_an_admin_tool_that_moves_a_simple_consumer_is_known_by_another_make() -> None:
    assert resets_of(between(simple(), {0: 5, 1: 7})) == [("to_earliest", "admin_likely", 5, "likely")]
    assert resets_of(between(simple(), {0: 1000, 1: 2000})) == [("to_latest", "admin_likely", 5, "likely")]


def test_a_simple_consumer_that_jumps_over_deleted_messages_goes_to_the_earliest() -> None:
    ends = {0: (150, 1000), 1: (250, 2000)}
    situation = simple().snapshot(25, ends).commit(30, {0: 150, 1: 250}).snapshot(40, ends)
    assert [(row["kind"], row["actor"], row["messages_skipped"]) for row in events(situation)] == [
        ("to_earliest", "unknown", 100)
    ]


def members() -> Situation:
    return Situation().own(0, {0: "a", 1: "b"}).commit(10, BEFORE).snapshot(25, WIDE)


@pytest.mark.parametrize(
    ("offsets", "kind"), [({0: 90, 1: 190}, "shift"), ({0: 90, 1: 180}, "to_offset"), ({0: 5}, "to_earliest")]
)
def test_a_seek_of_members_that_own_the_partitions_is_theirs(offsets: dict[int, int], kind: str) -> None:
    result = events(members().commit(30, offsets).snapshot(40, WIDE))
    assert [(row["kind"], row["actor"], row["num_members"]) for row in result] == [(kind, "member", 2)]


def test_a_transaction_that_goes_back_is_one() -> None:
    assert [row["actor"] for row in events(simple().transaction(30, {0: 90, 1: 190}))] == ["transaction"]


def test_a_step_back_in_a_group_of_which_nothing_is_known_is_by_somebody() -> None:
    situation = Situation().state(0, None, None, group_type=None).commit(10, BEFORE).admin(30, {0: 90, 1: 190})
    assert resets_of(situation) == [("shift", "unknown", 4, "possible")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((dict.fromkeys((0, 1), (0, 250)), 3), (dict.fromkeys((0, 1), (0, 80)), 4)),
        ((dict.fromkeys((0, 1), (0, 250)), 3), (dict.fromkeys((0, 1), (0, 300)), 0)),
    ],
)
def test_a_group_that_follows_a_log_that_was_cut_is_reported_as_such(before: Any, after: Any) -> None:
    situation = members()
    situation.snapshots = []
    situation.snapshot(25, before[0], before[1]).commit(30, {0: 60, 1: 70}).snapshot(40, after[0], after[1])
    assert resets_of(situation) == [("truncation", "member", None, "likely")]


def test_a_topic_made_anew_is_recognized_by_its_ids_and_compares_nothing() -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 100}, topic_id="old").commit(30, {0: 3}, topic_id="new")
    (row,) = events(situation)
    assert (row["kind"], row["actor"], row["topic_id"], row["confidence"]) == ("truncation", "member", "old", "certain")
    assert (row["from_offsets"], row["to_offsets"], row["messages_reread"]) == ([100], [3], None)


def test_a_tool_that_sets_offsets_of_the_new_topic_is_reported_once() -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 100}, topic_id="old").state(20, "Empty", 0)
    result = events(situation.admin(30, {0: 3}, topic_id="new"))
    assert [(row["kind"], row["actor"]) for row in result] == [("truncation", "unknown")]


def test_the_rows_of_one_write_have_one_time_whichever_topics_it_is_about() -> None:
    """It is one batch. An offset's time is the newest that its partition has seen, so that of one topic is later if the
    clock went back after its last commit."""
    situation = Situation().own(0, {0: "a"})
    for topic in ("t", "u"):
        situation.commit(10, {0: 100}, topic=topic)
    situation.state(20, "Empty", 0)
    of_write = {"batch_first_offset": situation.offset, "commit_time": at(30)}
    for second, topic in ((30, "t"), (31, "u")):
        situation.admin(second, {0: 5}, topic=topic, **of_write)
    of_write = {"batch_first_offset": situation.offset}
    for second, topic in ((51, "t"), (50, "u")):
        situation.remove(second, [0], "deleted", topic=topic, **of_write)
    seconds = {(row["kind"], row["topic"]): row["at_time"].second for row in events(situation)}
    assert seconds == {("shift", "t"): 30, ("shift", "u"): 30, ("deleted", "t"): 50, ("deleted", "u"): 50}


@pytest.mark.parametrize(
    ("ended_by", "kind", "actor", "confidence"),
    [
        ("expired", "expired", "coordinator", "likely"),
        ("deleted", "deleted", "admin_likely", "likely"),
        ("topic_deleted", "deleted", "coordinator", "likely"),
        ("tombstone_unknown", "deleted", "unknown", "possible"),
    ],
)
def test_removed_offsets_are_reported_by_why_they_were_removed(
    ended_by: str, kind: str, actor: str, confidence: str
) -> None:
    (row,) = events(emptied().remove(30, (1, 0), ended_by))
    assert (row["kind"], row["actor"], row["confidence"]) == (kind, actor, confidence)
    assert (row["partitions"], row["from_offsets"], row["to_offsets"]) == ([0, 1], [100, 200], [])
    assert (row["messages_reread"], row["messages_skipped"], row["signature_score"]) == (None, None, None)


def deleted(ended_by: str, second: float, before: str | None, after: str | None) -> Situation:
    """Between two snapshots, each with an id of the topic; None: it does not list the topic."""
    situation = emptied()
    for time, topic_id in ((25, before), (second + 10, after)):
        name = "t" if topic_id else "other"
        situation.snapshot(time, WIDE, topic=name, topic_id=topic_id)
    return situation.remove(second, (0, 1), ended_by)


@pytest.mark.parametrize(
    ("situation", "is_retention_known", "actor", "confidence", "left_open"),
    [
        # Younger than any retention, and the topic is still there.
        (deleted("tombstone_unknown", 30, "T", "T"), False, "admin_likely", "likely", None),
        (deleted("tombstone_unknown", 30, "T", None), False, "unknown", "possible", "or their topic: no snapshot"),
        (deleted("tombstone_unknown", 30, "T", "U"), False, "unknown", "possible", "or their topic: no snapshot"),
        # Old enough for the shortest retention: only a snapshot of the setting excludes it.
        (deleted("tombstone_unknown", 69, "T", "T"), False, "admin_likely", "likely", None),
        (deleted("tombstone_unknown", 70, "T", "T"), False, "unknown", "possible", "the offsets, or they expired: no"),
        (deleted("tombstone_unknown", 70, "T", "U"), False, "unknown", "possible", "their topic, or they expired: no"),
        (deleted("tombstone_unknown", 70, "T", "T"), True, "admin_likely", "likely", None),
        (deleted("tombstone_unknown", 70, "T", "U"), True, "unknown", "possible", "or their topic: no snapshot"),
        # The group went with its offsets: a sweep removes both, and so does an admin tool.
        (deleted("deleted", 70, "T", "T"), False, "unknown", "possible", "with the group: no snapshot has"),
        (deleted("deleted", 69, "T", "T"), False, "admin_likely", "likely", None),
        (deleted("deleted", 70, "T", "T"), True, "admin_likely", "likely", None),
        # In several groups at once: by the coordinator, in any case.
        (deleted("topic_deleted", 70, "T", "T"), False, "coordinator", "possible", "or the offsets expired: no"),
        (deleted("topic_deleted", 69, "T", "T"), False, "coordinator", "likely", None),
        (deleted("topic_deleted", 70, "T", "T"), True, "coordinator", "likely", None),
    ],
)  # fmt: skip
def test_deleted_offsets_name_an_admin_tool_only_where_nothing_else_is_left(
    situation: Situation, is_retention_known: bool, actor: str, confidence: str, left_open: str | None
) -> None:
    history = situation.rows()
    if is_retention_known:
        history = replace(history, broker=replace(history.broker, retention_source="snapshot"))
    (row,) = reset_rows(history, None).to_pylist()
    assert (row["kind"], row["actor"], row["confidence"]) == ("deleted", actor, confidence)
    reason = row["actor_reason"] or ""
    assert (left_open in reason) if left_open else ("or" not in reason.split()), reason


def test_a_deletion_without_a_time_may_have_been_expiry() -> None:
    """Although a snapshot has the retention: the age is not known."""
    situation = deleted("tombstone_unknown", 70, "T", "T")
    for row in situation.history:
        row["to_time"] = None
    history = situation.rows()
    history = replace(history, broker=replace(history.broker, retention_source="snapshot"))
    (row,) = reset_rows(history, None).to_pylist()
    assert (row["actor"], row["confidence"], "or they expired" in row["actor_reason"]) == ("unknown", "possible", True)


UNSURE: dict[str, Any] = {"is_transactional": None}


@pytest.mark.parametrize("of", [0, 1])
def test_a_reset_is_only_possible_where_one_of_the_commits_may_have_been_aborted(of: int) -> None:
    """The commits that were set back, or those that set them back."""
    read, back = ({}, UNSURE) if of else (UNSURE, {})
    situation = Situation().own(0, {0: "a", 1: "b"}).commit(10, BEFORE, **read).state(20, "Empty", 0)
    situation = situation.snapshot(25, WIDE).admin(30, {0: 5, 1: 7}, **back).snapshot(40, WIDE)
    assert resets_of(situation) == [("to_earliest", "admin_likely", 5, "possible")]


@pytest.mark.parametrize("ended_by", ["expired", "deleted", "topic_deleted"])
def test_the_removal_of_an_offset_that_may_never_have_held_is_only_possible(ended_by: str) -> None:
    situation = Situation().own(0, {0: "a", 1: "b"}).commit(10, {0: 100}).commit(11, {1: 200}, **UNSURE)
    (row,) = events(situation.state(20, "Empty", 0).remove(30, (1, 0), ended_by))
    assert (row["partitions"], row["confidence"]) == ([0, 1], "possible")


@pytest.mark.parametrize(("first", "second"), [(UNSURE, {}), ({}, UNSURE)])
def test_a_commit_for_a_recreated_topic_that_may_have_been_aborted_makes_its_truncation_possible(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 100}, topic_id="old", **first)
    (row,) = events(situation.commit(30, {0: 3}, topic_id="new", **second))
    assert (row["kind"], row["confidence"]) == ("truncation", "possible")


NOTHING = {
    "reading": members().commit(30, {0: 150, 1: 260}),
    "a new group": Situation().own(0, {0: "a"}).commit(10, {0: 0}),
    "a new simple group": Situation()
    .state(0, "Empty", 0, protocol_type=None)
    .admin(10, {0: 0, 1: 0})
    .snapshot(5, WIDE),
    "a simple group that catches up": between(simple(leader_epoch=None), {0: 1000, 1: 2000}),
    "a step back of one partition": members().commit(30, {0: 99}),
    "a new owner": members().own(20, {0: "b", 1: "a"}).commit(30, {0: 90, 1: 190}),
    "an aborted transaction": simple().transaction(30, {0: 5, 1: 7}, outcome="aborted"),
    "a transaction that reads on": simple().transaction(30, {0: 105, 1: 207}),
    "a static restart": members().own(20, {0: "a-2", 1: "b"}).commit(30, {0: 101, 1: 201}),
    "a conversion": members().state(20, "Stable", 2, group_type="consumer", protocol_type=None).commit(30, {0: 101}),
    "a jump of a member to the end": members().commit(30, {0: 1000, 1: 2000}),
    "the same offsets once more": emptied().admin(30, BEFORE),
}


@pytest.mark.parametrize("situation", NOTHING.values(), ids=NOTHING)
def test_what_is_no_reset_gives_nothing(situation: Situation) -> None:
    assert events(situation) == []


def test_a_run_gives_what_is_not_settled_alone() -> None:
    situation = between(emptied(), {0: 90, 1: 190}).remove(50, (0, 1), "deleted")
    assert [row["kind"] for row in events(situation, at(30))] == ["shift", "deleted"]
    assert [row["kind"] for row in events(situation, at(30) + 1)] == ["deleted"]
    assert events(situation, at(50) + 1) == []


@pytest.mark.parametrize(("end", "kinds"), [(99, ["truncation"]), (100, [])])
def test_a_log_was_cut_that_ends_below_what_was_committed(end: int, kinds: list[str]) -> None:
    """At the very offset that was committed before, nothing that the group had read is lost."""
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 100}).snapshot(20, {0: (0, 120)}, epoch=1)
    situation = situation.commit(30, {0: 90}).snapshot(40, {0: (0, end)}, epoch=2)
    assert [row["kind"] for row in events(situation)] == kinds


@pytest.mark.parametrize(("second", "number"), [(29, 0), (30, 1)])
def test_what_happens_at_the_very_time_has_happened(second: int, number: int) -> None:
    moved = replace(emptied().admin(30, {0: 50, 1: 150}).rows(), as_of_time=at(second))
    assert reset_rows(moved, None).num_rows == number
    removed = replace(emptied().remove(30, [0, 1], "deleted").rows(), as_of_time=at(second))
    assert reset_rows(removed, None).num_rows == number


def test_members_that_own_partitions_since_their_last_commit_had_them_before() -> None:
    """So that going back together is a seek, and no commit of who has just got them."""
    situation = Situation().own(10, {0: "a", 1: "a"}).commit(10, BEFORE).commit(30, {0: 90, 1: 190})
    assert [(row["kind"], row["actor"]) for row in events(situation)] == [("shift", "member")]


def test_where_a_reset_went_is_not_known_when_the_clock_was_in_doubt() -> None:
    """The reset is of 30 s; snapshots before and after it have the log's beginning there."""
    assert [kind for kind, *_ in resets_of(between(simple(), {0: 5, 1: 7}).doubt(0, 99))] == ["to_offset"]
    assert [kind for kind, *_ in resets_of(between(simple(), {0: 5, 1: 7}).doubt(60, 99))] == ["to_earliest"]


@pytest.mark.parametrize(("previous", "kind"), [(100, "to_offset"), (101, "to_latest")])
def test_only_from_beyond_its_end_anybody_steps_back_to_the_end_of_a_log(previous: int, kind: str) -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: previous}).state(20, "Empty", 0)
    situation = between(situation, {0: 95}, before={0: (5, 90)}, after={0: (5, 100)})
    assert [row["kind"] for row in events(situation)] == [kind]


@pytest.mark.parametrize(("offsets", "number"), [({0: 1000}, 0), ({0: 1000, 1: 2000}, 1)])
def test_one_partition_that_a_program_moves_to_the_end_is_no_reset(offsets: dict[int, int], number: int) -> None:
    """It commits for itself, this time without leader epoch: several at once are what an admin tool does."""
    assert len(events(between(simple(), offsets))) == number


@pytest.mark.parametrize(("previous", "number"), [(4, 1), (5, 0)])
def test_only_messages_that_were_deleted_unread_make_a_jump_over_a_gap(previous: int, number: int) -> None:
    situation = Situation().state(0, "Empty", 0, protocol_type=None).commit(10, {0: previous})
    situation = situation.snapshot(25, {0: (5, 1000)}).commit(30, {0: 8}).snapshot(40, {0: (10, 1000)})
    assert len(events(situation)) == number


@pytest.mark.parametrize(("committed", "actor"), [(105, "unknown"), (5, "admin_likely")])
def test_a_series_of_commits_without_members_ends_with_a_step_back_to_an_edge_alone(committed: int, actor: str) -> None:
    situation = emptied().snapshot(25, WIDE).admin(30, {0: 110}).admin(35, {0: committed}).snapshot(40, WIDE)
    assert [row["actor"] for row in events(situation)] == ["admin_likely", actor]


def seen(situation: Situation, second: float, end: int, topic_id: str | None = None, epoch: int | None = 5) -> None:
    situation.snapshot(second, {0: (0, end)}, leader_epoch=epoch, topic_id=topic_id)


@pytest.mark.parametrize(
    ("old", "new"), [(("old", 5), ("new", 5)), (("old", None), ("new", None)), ((None, 5), (None, 0)),
                     ((None, None), (None, None))],
)  # fmt: skip
@pytest.mark.parametrize("between", [(), (25,), (23, 25, 28)])
def test_a_topic_made_anew_is_recognized_however_long_before_the_reset(old: Any, new: Any, between: Any) -> None:
    """By snapshots: commits of older brokers name no topic id."""
    situation = Situation().own(0, {0: "a"})
    seen(situation, 5, 900_000, *old)
    situation.commit(10, {0: 1_000_000})
    for second, *of_log in ((15, 1_000_000, *old), *((second, 10, *new) for second in between)):
        seen(situation, second, *of_log)
    situation.commit(30, {0: 0})
    seen(situation, 35, 12, *new)
    (row,) = events(situation)
    assert (row["kind"], row["signature_score"], row["confidence"]) == ("truncation", None, "likely")
    assert (row["messages_reread"], row["messages_skipped"]) == (None, None)


def test_a_tool_that_moves_offsets_in_a_topic_made_anew_compares_nothing() -> None:
    """Neither back nor forward."""
    for offset in (5, 400):
        situation = Situation().own(0, {0: "a"}).commit(10, {0: 100}).state(20, "Empty", 0)
        for second, topic_id in ((5, "old"), (25, "new"), (28, "new"), (40, "new")):
            seen(situation, second, 500, topic_id)
        (row,) = events(situation.admin(30, {0: offset}))
        assert (row["kind"], row["messages_reread"], row["messages_skipped"]) == ("truncation", None, None)


def test_a_topic_made_anew_after_the_reset_says_nothing_about_it() -> None:
    """Both commits name the old one, the next snapshot has the new one."""
    situation = Situation().own(0, {0: "a"})
    for second, end, topic_id in ((5, 90, "old"), (15, 100, "old"), (40, 10, "new")):
        seen(situation, second, end, topic_id)
    situation.commit(10, {0: 100}, topic_id="old").state(20, "Empty", 0).admin(30, {0: 40}, topic_id="old")
    assert [(row["kind"], row["messages_reread"]) for row in events(situation)] == [("to_offset", 60)]


@pytest.mark.parametrize(("lowest", "kinds"), [(99, ["truncation"]), (100, [])])
def test_a_log_that_was_cut_and_grew_again_before_the_group_followed_is_found(lowest: int, kinds: list[str]) -> None:
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 100})
    for second, end in ((15, 120), (20, lowest), (25, 130)):
        seen(situation, second, end)
    situation.commit(30, {0: 90})
    seen(situation, 40, 140)
    assert [row["kind"] for row in events(situation)] == kinds


def test_a_new_leader_does_not_make_an_offset_beyond_the_end_a_cut_log() -> None:
    """It was beyond the end before that leader came."""
    situation = Situation().own(0, {0: "a"}).commit(10, {0: 1 << 62}).state(18, "Empty", 0)
    for second, epoch in ((5, 1), (15, 1), (25, 2), (40, 3)):
        seen(situation, second, 100, epoch=epoch)
    (row,) = events(situation.admin(30, {0: 100}))
    assert (row["kind"], row["messages_reread"], row["messages_skipped"]) == ("to_latest", 0, 0)


# Of snapshots start and end by second; then what the number is of messages read again and skipped.
REACHES: dict[str, tuple[int, int, dict[int, tuple[int, int]], int | None, int | None]] = {
    "no snapshot": (1 << 62, 5, {}, (1 << 62) - 5, 0),
    "a read log": (90, 40, {5: (0, 100), 15: (0, 100), 40: (0, 200)}, 50, 0),
    "from beyond the end": (1 << 62, 40, {5: (0, 100), 15: (0, 100), 40: (0, 200)}, 60, 0),
    "from beyond an end that grew": (1 << 62, 40, {5: (0, 90), 15: (0, 100), 40: (0, 200)}, None, 0),
    "from beyond an end of once only": (1 << 62, 40, {15: (0, 100), 40: (0, 200)}, None, 0),
    "from beyond the end to it": (1 << 62, 150, {5: (0, 90), 15: (0, 100), 40: (0, 200)}, 0, 0),
    "what was written later is not read again": (150, 40, {5: (0, 100), 15: (0, 100), 40: (0, 200)}, 60, 0),
    "to below the start": (90, 0, {5: (0, 100), 25: (30, 100), 40: (30, 100)}, 60, 0),
    "to below a start that moved": (90, 0, {5: (0, 100), 25: (30, 100), 40: (31, 100)}, None, 0),
    "to a start that moved": (90, 30, {5: (0, 100), 25: (30, 100), 40: (40, 100)}, 60, 0),
    "to below a start that nobody saw later": (90, 0, {5: (0, 100), 25: (30, 100)}, None, 0),
    "to below a start that was seen later": (90, 0, {40: (30, 100)}, 90, 0),
    "all of it is gone": (20, 10, {5: (0, 100), 25: (30, 100), 40: (30, 100)}, 0, 0),
    "on to beyond the end": (50, 1 << 62, {5: (0, 100), 25: (0, 100), 40: (0, 100)}, 0, 50),
    "on to beyond an end that grew": (50, 1 << 62, {5: (0, 100), 25: (0, 100), 40: (0, 101)}, 0, None),
    "on to the end": (50, 100, {5: (0, 100), 25: (0, 90), 40: (0, 110)}, 0, 50),
    "on from beyond the end": (300, 1 << 62, {5: (0, 100), 25: (0, 100), 40: (0, 101)}, 0, 0),
    "on from below the start": (20, 60, {5: (0, 100), 25: (30, 100), 40: (40, 100)}, 0, 40),
}


@pytest.mark.parametrize("name", REACHES)
def test_messages_that_are_not_in_the_log_are_neither_read_again_nor_skipped(name: str) -> None:
    previous, committed, ends, reread, skipped = REACHES[name]
    situation = Situation().own(0, {0: "a"}).commit(10, {0: previous}).state(20, "Empty", 0)
    for second, log in ends.items():
        situation.snapshot(second, {0: log}, leader_epoch=1)
    (row,) = events(situation.admin(30, {0: committed}))
    assert (row["messages_reread"], row["messages_skipped"]) == (reread, skipped)
    assert row["kind"] != "truncation"


def test_more_messages_than_a_table_can_hold_are_as_many_as_it_can() -> None:
    situation = Situation().own(0, dict.fromkeys(range(3), "a")).commit(10, dict.fromkeys(range(3), 1 << 62))
    (row,) = events(situation.state(20, "Empty", 0).admin(30, {0: 5, 1: 7, 2: 9}))
    assert (row["messages_reread"], row["messages_skipped"]) == ((1 << 63) - 1, 0)


def made_anew(partitions: dict[int, int], last: dict[int, int]) -> Situation:
    """A topic is deleted; members commit for the new one, first what they had read of the old one, then what is
    there."""
    situation = Situation().own(0, {0: "a", 1: "b"}).commit(10, BEFORE, topic_id="old")
    situation = situation.remove(20, [0, 1], "topic_deleted").commit(22, partitions, topic_id="new")
    return situation.commit(24, last, topic_id="new")


def test_who_goes_on_in_a_topic_made_anew_after_a_last_commit_for_the_old_one_follows_it() -> None:
    assert {row["kind"] for row in events(made_anew({0: 100}, {0: 5}))} == {"deleted", "truncation"}
    assert {row["kind"] for row in events(made_anew({0: 100, 1: 200}, {0: 5, 1: 9}))} == {"deleted", "truncation"}


def test_a_step_back_from_an_offset_that_the_old_topic_never_had_is_none() -> None:
    assert "truncation" not in {row["kind"] for row in events(made_anew({0: 99}, {0: 5}))}
    # Offset 200 is that of another partition.
    assert "truncation" not in {row["kind"] for row in events(made_anew({0: 200}, {0: 5}))}
    assert "truncation" not in {row["kind"] for row in events(made_anew({0: 100}, {0: 105}))}
