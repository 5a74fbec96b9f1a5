"""Traps of the log that concern classic groups, each by name."""

import pytest

from tests.builders.groups.classic_log import created, member, replayed, tombstone, value
from udfs.log.gaps import Gaps

STATE = ("state", "generation_or_epoch", "protocol_type", "from_time", "to_time")


def test_an_empty_group_of_a_generation_is_not_the_form_of_a_new_group() -> None:
    form = replayed([created(0, 1000)])
    assert form.of("group_state_intervals", *STATE) == [("Empty", 0, "", 1000, None)]
    assert form.rows["rebalances"] == []
    drained = replayed([value(0, 1000, 4, state=999)])
    assert drained.of("group_state_intervals", *STATE) == [("Empty", 4, "consumer", 999, None)]
    assert drained.of("rebalances", "outcome") == ["emptied"]


def test_the_form_of_a_new_group_begins_at_its_record_so_that_it_does_not_overlap_what_was_before() -> None:
    replay = replayed([value(0, 1000, 0, state=998, protocol_type="")])
    assert replay.of("group_state_intervals", "from_time") == [1000]


def test_a_tombstone_of_a_group_that_never_had_a_value_is_no_event() -> None:
    replay = replayed([tombstone(0, 1000)])
    assert all(not rows for rows in replay.rows.values())


def test_a_tombstone_of_an_unknown_group_makes_what_follows_exact() -> None:
    gaps = Gaps([0], [4])
    replay = replayed([tombstone(5, 1000), value(6, 9000, 1, [member("a", "t0")], state=8900)], gaps=gaps)
    assert replay.of("rebalances", "trigger", "unpersisted_rounds") == [("group_created", 0)]


def test_the_same_generation_with_another_member_id_is_a_static_swap_also_of_several_at_once() -> None:
    before = [member("a", "t0", instance="i"), member("b", "t1", instance="j")]
    after = [member("y", "t0", instance="i"), member("z", "t1", instance="j")]
    replay = replayed([value(0, 1000, 3, before, state=900), value(1, 2000, 3, after, state=1000)])
    assert len(replay.rows["rebalances"]) == 1
    assert replay.of("membership_intervals", "member_id", "leave_kind") == [
        ("a", "static_replaced"), ("b", "static_replaced"), ("y", None), ("z", None)
    ]  # fmt: skip


def test_the_same_generation_with_other_members_is_no_swap() -> None:
    replay = replayed([
        value(0, 1000, 3, [member("a", "t0")], state=900), value(1, 2000, 3, [member("b", "t0")], state=1900, epoch=1)
    ])  # fmt: skip
    assert replay.of("rebalances", "trigger")[-1] == "coordinator_failover"


def test_an_assignment_of_length_0_is_nothing_and_not_unreadable() -> None:
    replay = replayed([value(0, 1000, 1, [member("a", "t0"), member("b", "-")], state=900)])
    assert replay.one("generation_members", "assigned", member_id="b") == ""
    assert replay.rows["replay_anomalies"] == []
    assert replay.one("rebalances", "num_partitions") == 1


def test_an_assignment_that_cannot_be_read_leaves_counts_unknown_and_is_reported() -> None:
    replay = replayed([value(0, 1000, 1, [member("a", "t0"), member("b", None)], state=900)])
    assert replay.of("generation_members", "assigned", "added") == [("t0", "t0"), (None, None)]
    assert replay.one("rebalances", "num_partitions", "num_moved", "stopped_partition_ms") == (None, None, None)
    assert replay.of("replay_anomalies", "kind", "severity") == [("foreign_payload", "info")]


def test_a_subscription_that_cannot_be_read_claims_nothing() -> None:
    replay = replayed([value(0, 1000, 1, [member("a", "t0", is_read=False)], state=900)])
    assert replay.one("generation_members", "subscribed_topics", "claimed_owned") == (None, None)
    assert replay.of("replay_anomalies", "kind") == ["foreign_payload"]


def test_groups_of_other_protocol_types_have_members_and_no_partitions() -> None:
    worker = member("w", None, is_read=False)
    replay = replayed([value(0, 1000, 1, [worker], state=900, protocol_type="connect", protocol="sessioned")])
    assert replay.rows["replay_anomalies"] == []
    assert replay.rows["ownership_intervals"] == []
    assert replay.one("membership_intervals", "member_id") == "w"
    assert replay.one("rebalances", "mode", "num_partitions", "trigger") == (None, None, "group_created")
    assert replay.of("group_state_intervals", "state", "assignor")[-1] == ("Stable", "sessioned")


def test_one_batch_with_several_groups_is_one_operation_of_each() -> None:
    one, two = [member("a", "t0")], [member("b", "t0")]
    replay = replayed(
        [value(0, 1000, 1, one, state=900, batch=0), value(1, 1000, 1, two, state=900, batch=0, group="h")]
    )
    assert replay.of("rebalances", "group_id", "assignment_offset") == [("g", 0), ("h", 1)]


def test_the_last_value_of_a_batch_at_one_time_wins_and_rounds_between_are_no_lost_ones() -> None:
    replay = replayed([
        created(0, 0),
        value(1, 1000, 1, [member("a", "t0")], state=900, batch=1), value(2, 1000, 2, state=1000, batch=1),
    ])  # fmt: skip
    assert replay.of("rebalances", "assignment_offset", "to_generation", "unpersisted_rounds") == [(2, 2, 0)]
    assert replay.of("group_state_intervals", "state") == ["Empty", "Empty"]


def test_records_missing_before_any_value_of_an_operation_make_it_inexact() -> None:
    one = [member("a", "t0")]
    log = [created(0, 0), value(5, 9000, 3, one, batch=5), value(6, 9000, 4, one, batch=5)]
    assert replayed(log, gaps=Gaps([1], [4])).one("rebalances", "unpersisted_rounds", "trigger") == (
        None,
        "group_created",
    )


def test_operations_of_one_batch_at_two_times_are_two() -> None:
    replay = replayed([
        value(1, 1000, 1, [member("a", "t0")], state=900, batch=1), value(2, 1005, 2, state=1004, batch=1)
    ])  # fmt: skip
    assert replay.of("rebalances", "assignment_offset") == [1, 2]


def test_records_of_an_archive_without_batches_are_one_operation_at_one_time() -> None:
    rows = [value(1, 1000, 1, [member("a", "t0")], state=900), value(5, 1000, 2, state=1000)]
    replay = replayed([row | {"batch_first_offset": None} for row in rows])
    assert replay.of("rebalances", "assignment_offset") == [5]


def test_a_clock_that_steps_back_does_not_turn_intervals_around_and_is_reported_beyond_a_second() -> None:
    two = [member("a", "t0")]
    replay = replayed(
        [value(0, 10_000, 1, two, state=9900), value(1, 9500, 2, two, state=9400), value(2, 5000, 3, two)]
    )
    assert replay.of("group_state_intervals", "from_time", "to_time")[1:] == [
        (10_000, 10_000), (10_000, 10_000), (10_000, None)
    ]  # fmt: skip
    message = "record time lies 5,000 ms before that of an earlier record"
    assert replay.of("replay_anomalies", "kind", "record_offset", "message") == [("clock_went_back", 2, message)]


def test_a_compacted_log_that_kept_the_newest_value_alone_claims_nothing_before_it() -> None:
    replay = replayed([value(50, 9000, 7, [member("a", "t0")], state=8900)], gaps=Gaps([0], [49]))
    assert replay.of("group_state_intervals", "from_time", "is_from_exact") == [(8900, False), (9000, False)]
    assert replay.one("membership_intervals", "from_time", "is_from_exact") == (8900, False)


def test_a_hole_ends_all_and_nothing_of_it_is_claimed() -> None:
    log = [value(0, 1000, 1, [member("a", "t0")], state=900)]
    replay = replayed(log, hole={"offset": 3, "time": 4000})
    for table in ("group_state_intervals", "membership_intervals", "ownership_intervals"):
        assert replay.of(table, "to_time", "to_offset", "ended_by", "is_to_exact")[-1] == (
            4000,
            3,
            "coverage_hole",
            False,
        )
    assert replay.of("membership_intervals", "leave_kind") == ["coverage_hole"]


@pytest.mark.parametrize("order", [["t1 t0", "t0 t1"], ["u0 t0", "t0 u0"]])
def test_the_order_of_partitions_means_nothing(order: list[str]) -> None:
    first, second = order
    log = [
        value(0, 1000, 1, [member("a", first)], state=900),
        value(1, 2000, 2, [member("a", second, first)], state=1900),
    ]
    replay = replayed(log)
    assert replay.of("ownership_intervals", "to_time") == [None, None]
    assert replay.of("generation_members", "kept", "added")[-1] == (" ".join(sorted(first.split())), "")


def test_partitions_below_0_are_left_out_and_reported_and_nobody_else_suffers() -> None:
    """In any order of groups: as numbers they would be those of the topic before."""
    odd = [member("a", "t0 t1", "t1"), member("b", "u2")]
    odd[0]["assignment"]["partitions"][0]["partitions"].insert(0, -1)
    odd[0]["subscription"]["owned_partitions"].append({"topic": "u", "partitions": [-(2**31), -1]})
    sound = value(1, 1000, 1, [member("c", "v0")], state=900, group="h")
    replay = replayed([value(0, 1000, 1, odd, state=900, group="g"), sound], cuts=[1])
    assert sorted(replay.of("ownership_intervals", "member_id", "tp")) == [
        ("a", "t0"), ("a", "t1"), ("b", "u2"), ("c", "v0")
    ]  # fmt: skip
    assert replay.of("generation_members", "member_id", "claimed_owned", "assigned") == [
        ("a", "t1", "t0 t1"), ("b", "", "u2"), ("c", "", "v0")
    ]  # fmt: skip
    message = "ignored negative partition numbers, which no topic has: a claims u--1, u--2147483648, a has t--1"
    assert replay.of("replay_anomalies", "group_id", "kind", "record_offset", "message") == [
        ("g", "negative_partition", 0, message)
    ]  # fmt: skip


def test_of_a_member_id_that_stands_twice_the_last_entry_counts_as_for_the_coordinator() -> None:
    """It puts the entries into a map by id, one after the other."""
    twice = [member("a", "t0"), member("b", "t1"), member("a", "t2")]
    replay = replayed([value(0, 1000, 1, twice, state=900), value(1, 5000, 2, [member("b", "t1")], state=4900)])
    given = replay.of("generation_members", "member_id", "assigned", generation_or_epoch=1)
    assert sorted(given) == [("a", "t2"), ("b", "t1")]
    assert sorted(replay.of("ownership_intervals", "member_id", "tp", from_offset=0)) == [("a", "t2"), ("b", "t1")]
    assert replay.of("group_state_intervals", "num_members", generation_or_epoch=1, state="Stable") == [2]
    assert replay.of("rebalances", "num_members_after", "num_partitions")[0] == (2, 2)
    assert replay.of("replay_anomalies", "kind", "message") == [
        ("duplicate_member", "member a appears twice in generation 1: the last entry counts")
    ]  # fmt: skip
