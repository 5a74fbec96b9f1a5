"""What two consecutive values of a classic group show: what Kafka's coordinator did between them."""

import pytest

from tests.builders.groups.classic_log import Row, created, member, replayed, tombstone, value
from udfs.log.gaps import Gaps

TWO = (member("a", "t0 t1"), member("b", "t2"))


def log_of(*values: Row) -> list[Row]:
    return [created(0, 0), value(1, 3100, 1, TWO, state=3000), *values]


def cause(*values: Row, gaps: Gaps | None = None) -> tuple[str, str]:
    """Of the last rebalance."""
    return replayed(log_of(*values), gaps=gaps).of("rebalances", "trigger", "confidence")[-1]


# -- states


def test_a_value_with_members_completes_at_its_time_what_began_at_its_state_time() -> None:
    replay = replayed(log_of(value(2, 9000, 2, TWO, state=8900)))
    assert replay.of(
        "group_state_intervals", "state", "from_time", "to_time", "is_to_exact", "generation_or_epoch"
    ) == [
        ("PreparingRebalance", 0, 3000, False, 0),
        ("CompletingRebalance", 3000, 3100, True, 1),
        ("Stable", 3100, 8900, False, 1),
        ("CompletingRebalance", 8900, 9000, True, 2),
        ("Stable", 9000, None, True, 2),
    ]


def test_a_new_group_waits_for_members_from_its_first_value_on_only_as_long_as_they_may_take() -> None:
    slow = replayed([created(0, 0), value(1, 400_000, 1, [member("a", "t0")], state=399_000)])
    assert slow.of("group_state_intervals", "state")[0] == "Empty"
    soon = replayed([created(0, 0), value(1, 4000, 1, [member("a", "t0")], state=3000)])
    assert soon.of("group_state_intervals", "state", "confidence")[0] == ("PreparingRebalance", "likely")


def test_an_emptied_group_is_empty_from_its_state_time_on_and_keeps_its_generation_and_type() -> None:
    replay = replayed(log_of(value(2, 9000, 2, state=8999)))
    names = ("state", "from_time", "generation_or_epoch", "protocol_type", "assignor", "num_members")
    assert replay.of("group_state_intervals", *names)[-1] == ("Empty", 8999, 2, "consumer", None, 0)
    assert replay.of("rebalances", "outcome", "trigger", "mode", "sync_ms", "num_unowned", "members_departed")[-1] == (
        "emptied", "group_emptied", None, None, 3, ["a", "b"]
    )  # fmt: skip


def test_a_state_time_that_is_unknown_leaves_the_join_phase_out() -> None:
    replay = replayed([value(0, 1000, 1, TWO, state=None), value(1, 5000, 2, TWO, state=None)])
    assert replay.of("group_state_intervals", "state", "from_time", "to_time") == [
        ("Stable", 1000, 5000), ("Stable", 5000, None)
    ]  # fmt: skip
    assert replay.of("rebalances", "sync_ms", "start_time") == [(None, 1000), (None, 5000)]


def test_a_state_time_of_another_clock_stays_between_the_values() -> None:
    early = replayed(log_of(value(2, 9000, 2, TWO, state=1000)))
    assert early.of("group_state_intervals", "from_time", "to_time")[-2:] == [(3100, 9000), (9000, None)]
    late = replayed(log_of(value(2, 9000, 2, TWO, state=9500)))
    assert late.of("group_state_intervals", "state", "to_time")[-2:] == [("Stable", 9000), ("Stable", None)]


def test_records_without_time_make_intervals_without_time() -> None:
    replay = replayed([value(0, None, 1, TWO), value(1, None, 2, TWO)])
    assert replay.of("group_state_intervals", "from_time", "to_time", "to_offset") == [
        (None, None, 1),
        (None, None, None),
    ]


# -- causes


def test_the_first_assignment_creates_the_group() -> None:
    replay = replayed(log_of())
    names = ("trigger", "confidence", "from_generation", "unpersisted_rounds", "sync_ms", "num_members_before")
    assert replay.one("rebalances", *names) == ("group_created", "certain", 0, 0, 100, 0)


def test_without_the_records_before_it_nobody_knows_what_set_the_first_value_off() -> None:
    replay = replayed([value(7, 3100, 4, TWO, state=3000)], gaps=Gaps([0], [6]))
    names = ("trigger", "confidence", "from_generation", "unpersisted_rounds")
    assert replay.one("rebalances", *names) == ("unknown", "possible", None, None)
    assert replay.of("group_state_intervals", "is_from_exact") == [False, False]
    assert replay.of("ownership_intervals", "is_from_exact") == [False] * 3
    assert replay.of("generation_members", "previous_assigned") == [None, None]


def test_members_that_came_set_a_rebalance_off() -> None:
    assert cause(value(2, 9000, 2, [*TWO, member("c")], state=8900)) == ("member_joined", "certain")


def test_members_that_went_set_a_rebalance_off() -> None:
    assert cause(value(2, 9000, 2, TWO[:1], state=8900)) == ("member_left", "certain")


def test_where_members_came_and_went_nobody_knows_who_was_first() -> None:
    replay = replayed(log_of(value(2, 9000, 2, [TWO[0], member("c", "t2")], state=8900)))
    names = ("trigger", "confidence", "members_joined", "members_departed", "num_members_before", "num_members_after")
    assert replay.of("rebalances", *names)[-1] == ("member_joined", "likely", ["c"], ["b"], 2, 2)


def test_another_assignor_is_named_before_the_members_that_brought_it() -> None:
    changed = value(2, 9000, 2, [TWO[0], member("c", "t2")], state=8900, protocol="cooperative-sticky")
    assert cause(changed) == ("assignor_changed", "certain")
    assert replayed(log_of(changed)).of("group_state_intervals", "assignor")[-1] == "cooperative-sticky"


def test_another_subscription_of_a_member_is_likely_what_set_it_off() -> None:
    other = (member("a", "t0 t1", topics=("t", "u")), TWO[1])
    assert cause(value(2, 9000, 2, other, state=8900)) == ("subscription_changed", "likely")


def test_partitions_that_nobody_had_show_changed_topics() -> None:
    more = (member("a", "t0 t1"), member("b", "t2 t3"))
    assert cause(value(2, 9000, 2, more, state=8900)) == ("metadata_changed", "likely")
    fewer = (member("a", "t0"), member("b", "t2"))
    assert cause(value(2, 9000, 2, fewer, state=8900)) == ("metadata_changed", "likely")


def test_a_rebalance_that_changes_nothing_came_of_a_member_that_joined_anew() -> None:
    assert cause(value(2, 9000, 2, TWO, state=8900)) == ("leader_rejoined", "likely")


def test_a_follow_up_is_no_change_of_topics() -> None:
    keeps = member("a", "t0", "t0 t1", generation=1)
    first = value(2, 9000, 2, [keeps, member("b", "t2", "t2", generation=1), member("c")], state=8900)
    assert cause(first) == ("member_joined", "certain")
    after = [
        member("a", "t0", "t0", generation=2),
        member("b", "t2", "t2", generation=2),
        member("c", "t1", generation=2),
    ]
    second = value(3, 9500, 3, after, state=9400)
    assert cause(first, second) == ("leader_rejoined", "likely")
    assert replayed(log_of(first, second)).of("rebalances", "is_follow_up") == [False, False, True]


def test_what_a_round_withholds_is_no_change_of_topics() -> None:
    log = [
        value(0, 1000, 1, TWO, state=900),
        value(
            1, 2000, 2, [member("a", "t0", "t0 t1", generation=1), member("b", "t2", "t2", generation=1)], state=1900
        ),
    ]
    assert replayed(log).of("rebalances", "trigger")[-1] == "leader_rejoined"


def test_a_generation_that_starts_again_under_a_new_leader_epoch_shows_a_lost_round() -> None:
    lost = value(2, 9000, 1, [member("c", "t0 t1 t2")], state=8900, epoch=2)
    assert cause(lost) == ("coordinator_failover", "likely")
    replay = replayed(log_of(value(2, 5000, 5, TWO, state=4900), value(3, 9000, 3, TWO, state=8900, epoch=1)))
    assert replay.of("rebalances", "trigger", "unpersisted_rounds")[-1] == ("coordinator_failover", None)
    assert replay.of("replay_anomalies", "kind", "record_offset") == [("generation_went_back", 3)]


def test_a_generation_that_goes_back_without_another_leader_is_unknown() -> None:
    assert cause(value(2, 5000, 5, TWO, state=4900), value(3, 9000, 3, TWO, state=8900)) == ("unknown", "possible")


def test_a_generation_gap_counts_rounds_that_left_no_value() -> None:
    replay = replayed(log_of(value(2, 9000, 5, TWO[:1], state=8900)))
    names = ("unpersisted_rounds", "trigger", "confidence", "from_generation", "to_generation")
    assert replay.of("rebalances", *names)[-1] == (3, "member_left", "likely", 1, 5)


def test_where_records_are_missing_a_generation_gap_shows_neither_rounds_nor_a_cause() -> None:
    replay = replayed(log_of(value(9, 9000, 5, TWO[:1], state=8900)), gaps=Gaps([2], [8]))
    assert replay.of("rebalances", "unpersisted_rounds", "trigger", "members_departed")[-1] == (None, "unknown", ["b"])
    assert replay.of("membership_intervals", "leave_kind", "is_to_exact", member_id="b") == [("unknown", False)]


def test_the_next_generation_shows_its_cause_in_spite_of_missing_records() -> None:
    assert cause(value(9, 9000, 2, TWO[:1], state=8900), gaps=Gaps([2], [8])) == ("member_left", "certain")


def test_another_leader_shows_beside_the_old_one() -> None:
    replay = replayed(log_of(value(2, 9000, 2, TWO, state=8900, leader="b")))
    assert replay.of("rebalances", "leader_before", "leader_after")[-1] == ("a", "b")
    assert replay.of("generation_members", "is_leader", assignment_offset=2) == [False, True]


def test_a_group_that_comes_back_to_life_had_members_join() -> None:
    assert cause(value(2, 9000, 2, state=8999), value(3, 12_000, 3, TWO, state=11_000)) == ("member_joined", "certain")


# -- how members go


def test_a_member_that_is_gone_left_or_timed_out_by_the_end_of_the_join_phase() -> None:
    replay = replayed(log_of(value(2, 9000, 2, TWO[:1], state=8900)))
    names = ("from_time", "to_time", "is_to_exact", "leave_kind", "joined_generation", "left_generation", "confidence")
    assert replay.one("membership_intervals", *names, member_id="b") == (
        3000, 8900, False, "left_or_timed_out", 1, 2, "certain"
    )  # fmt: skip
    assert replay.one("membership_intervals", "is_open", "ended_by", member_id="a") == (True, None)


def test_a_static_member_that_is_gone_did_not_come_back_in_time() -> None:
    log = [
        value(0, 1000, 1, [TWO[0], member("b", "t2", instance="i")], state=900),
        value(1, 9000, 2, TWO[:1], state=8900),
    ]
    result = replayed(log).one("membership_intervals", "leave_kind", "confidence", member_id="b")
    assert result == ("static_expired_likely", "likely")


@pytest.mark.parametrize(("gone_at", "kind"), [
    (60_000, "left_or_timed_out"), (301_000, "rebalance_timeout_likely"), (400_000, "left_or_timed_out")
])  # fmt: skip
def test_a_member_that_should_give_up_and_went_when_its_time_was_over_timed_out(gone_at: int, kind: str) -> None:
    asked = value(2, 9000, 2, [member("a", "t0", "t0 t1"), member("b", "t2", "t2"), member("c")], state=8900)
    gone = value(3, 9100 + gone_at, 3, [member("b", "t2", "t2"), member("c", "t0 t1")], state=9000 + gone_at)
    assert replayed(log_of(asked, gone)).of("membership_intervals", "leave_kind", member_id="a") == [kind]


def test_a_static_swap_is_no_rebalance() -> None:
    before = [TWO[0], member("b", "t2", instance="i")]
    after = [TWO[0], member("z", "t2", instance="i", topics=("t", "u"))]
    replay = replayed([value(0, 1000, 1, before, state=900), value(1, 9000, 1, after, state=1001)])
    assert replay.of("rebalances", "assignment_offset") == [0]
    assert replay.of("group_state_intervals", "state", "to_time") == [("CompletingRebalance", 1000), ("Stable", None)]
    names = ("member_id", "from_time", "to_time", "is_to_exact", "leave_kind", "joined_generation")
    assert replay.of("membership_intervals", *names)[1:] == [
        ("b", 900, 9000, True, "static_replaced", 1), ("z", 9000, None, True, None, 1)
    ]  # fmt: skip
    assert replay.of("ownership_intervals", "member_id", "from_time", "to_time", "ended_by", tp="t2") == [
        ("b", 1000, 9000, "static_replaced"), ("z", 9000, None, None)
    ]  # fmt: skip
    assert replay.of("partition_moves", "tp", assignment_offset=1) == []


def test_a_static_member_that_comes_back_with_a_rebalance_is_restarted() -> None:
    before = [TWO[0], member("b", "t2", instance="i")]
    after = [member("a", "t0 t1", generation=1), member("z", "t2", instance="i")]
    replay = replayed([value(0, 1000, 1, before, state=900), value(1, 9000, 2, after, state=8900)])
    names = ("trigger", "confidence", "members_joined", "members_departed", "num_members_before", "num_members_after")
    assert replay.of("rebalances", *names)[-1] == ("static_restart", "certain", "", "", 2, 2)
    assert replay.of("generation_members", "member_id", "change", "previous_assigned", assignment_offset=1) == [
        ("a", "kept", "t0 t1"), ("z", "restarted", "t2")
    ]  # fmt: skip
    assert replay.one("membership_intervals", "leave_kind", "to_time", member_id="b") == ("static_replaced", 8900)
    assert replay.of("ownership_intervals", "member_id", "from_time", "to_time", "ended_by", tp="t2") == [
        ("b", 1000, 8900, "static_replaced"), ("z", 9000, None, None)
    ]  # fmt: skip


def test_a_swap_after_missing_records_claims_no_join_phase_for_the_days_between() -> None:
    """The value of a swap has the moment at which the group became stable, which may be long ago."""
    static = [member("a", "t0", instance="i")]
    replay = replayed([value(9, 500_000, 1, static, state=1000)], gaps=Gaps([0], [8]))
    assert replay.of("group_state_intervals", "state", "from_time", "is_from_exact") == [("Stable", 500_000, False)]
    assert replay.one("rebalances", "sync_ms") is None


def test_the_same_value_again_changes_nothing() -> None:
    once, twice = replayed(log_of()), replayed(log_of(value(2, 9000, 1, TWO, state=3000)))
    names = ("state", "from_time", "to_time")
    assert once.of("group_state_intervals", *names) == twice.of("group_state_intervals", *names)
    assert len(twice.rows["rebalances"]) == 1
    assert twice.one("membership_intervals", "evidence_last_offset", member_id="a") == 2


def test_an_instance_that_an_older_member_took_over_is_no_restart() -> None:
    before = [member("a", "t0", instance="i"), member("b", "t1")]
    replay = replayed([
        value(0, 1000, 1, before, state=900),
        value(1, 9000, 2, [member("b", "t0 t1", instance="i", generation=1)], state=8900),
    ])  # fmt: skip
    assert replay.of("generation_members", "change", "member_id", assignment_offset=1) == [("left", "a"), ("kept", "b")]
    assert replay.one("membership_intervals", "leave_kind", member_id="a") == "static_expired_likely"


# -- deletion


def test_a_tombstone_ends_an_empty_group() -> None:
    replay = replayed(log_of(value(2, 9000, 2, state=8999), tombstone(3, 20_000)))
    assert replay.of("group_state_intervals", "to_time", "ended_by", "is_to_exact", "is_open")[-1] == (
        20_000, "deleted", True, False
    )  # fmt: skip
    assert replay.rows["replay_anomalies"] == []


def test_a_group_that_is_made_again_starts_anew() -> None:
    replay = replayed(
        log_of(value(2, 9000, 2, state=8999), tombstone(3, 20_000), value(4, 30_000, 1, TWO, state=29_000))
    )
    assert replay.of("rebalances", "trigger", "from_generation", "unpersisted_rounds")[-1] == ("group_created", None, 0)
    assert replay.rows["replay_anomalies"] == []


def test_a_tombstone_of_a_group_with_members_is_an_anomaly_unless_records_are_missing() -> None:
    replay = replayed(log_of(tombstone(2, 20_000)))
    assert replay.of("replay_anomalies", "kind", "severity") == [("impossible_order", "warning")]
    assert replay.of("membership_intervals", "leave_kind", "to_time") == [("group_deleted", 20_000)] * 2
    assert replay.of("ownership_intervals", "ended_by") == ["group_deleted"] * 3
    behind = replayed(log_of(tombstone(9, 20_000)), gaps=Gaps([5], [5]))
    assert behind.rows["replay_anomalies"] == []
    assert behind.of("ownership_intervals", "is_to_exact") == [False] * 3


def test_a_group_may_be_emptied_and_deleted_in_one_batch_and_millisecond() -> None:
    replay = replayed(log_of(value(2, 20_000, 2, state=19_999), tombstone(3, 20_000, batch=2)))
    assert replay.rows["replay_anomalies"] == []
    assert replay.of("group_state_intervals", "ended_by")[-1] == "deleted"
