"""Who owns what between the values of a classic group, and the sets of KIP-429 that each member's callbacks get."""

import pytest

from tests.builders.groups.classic_log import Replayed, Row, member, replayed, value
from udfs.log.gaps import Gaps

STAY = ("member_id", "phase", "from_time", "to_time", "ended_by", "is_to_exact")
MOVE = ("kind", "from_member_id", "to_member_id", "idle_ms")


def two_rounds(before: list[Row], after: list[Row], **other: str) -> Replayed:
    return replayed(
        [value(0, 1000, 1, before, state=900, **other), value(1, 9000, 2, after, state=8900, **other)]  # type: ignore[arg-type]
    )


# -- stays


def test_eager_members_stop_at_the_end_of_the_join_phase_and_begin_again_with_the_assignment() -> None:
    replay = two_rounds([member("a", "t0")], [member("a", "t0", generation=1)])
    assert replay.of("ownership_intervals", *STAY, tp="t0") == [
        ("a", "assigned", 1000, 8900, "revoked", False), ("a", "assigned", 9000, None, None, True)
    ]  # fmt: skip
    assert replay.of("partition_moves", *MOVE, assignment_offset=1) == [("returned", "a", "a", 100)]
    names = ("mode", "num_returned", "num_moved", "stopped_partition_ms")
    assert replay.of("rebalances", *names)[-1] == ("eager", 1, 0, 100)


def test_members_that_cannot_claim_stop_as_well() -> None:
    replay = two_rounds([member("a", "t0", version=0)], [member("a", "t0", version=0, generation=None)])
    assert replay.of("ownership_intervals", "to_time", tp="t0") == [8900, None]
    assert replay.of("generation_members", "claimed_owned", "dropped_before_join")[-1] == (None, "t0")


def test_a_stay_goes_on_where_its_member_claimed_the_partition_and_got_it_again() -> None:
    replay = two_rounds([member("a", "t0")], [member("a", "t0", "t0", generation=1)])
    assert replay.of("ownership_intervals", *STAY, "generation_or_epoch") == [
        ("a", "assigned", 1000, None, None, True, 1)
    ]
    assert replay.of("partition_moves", "tp", assignment_offset=1) == []
    assert replay.of("rebalances", "mode", "stopped_partition_ms")[-1] == ("cooperative", 0)


def test_what_is_claimed_and_not_given_is_revoking_until_the_next_join_phase_ends() -> None:
    log = [
        value(0, 1000, 1, [member("a", "t0 t1")], state=900),
        value(1, 9000, 2, [member("a", "t0", "t0 t1", generation=1), member("b")], state=8900),
        value(2, 9600, 3, [member("a", "t0", "t0", generation=2), member("b", "t1", generation=2)], state=9500),
    ]
    replay = replayed(log)
    assert replay.of("ownership_intervals", *STAY, tp="t1") == [
        ("a", "assigned", 1000, 9000, "phase_changed", True),
        ("a", "revoking", 9000, 9500, "reassigned", False),
        ("b", "assigned", 9600, None, None, True),
    ]
    assert replay.of("partition_moves", *MOVE, tp="t1") == [
        ("assigned", None, "a", None), ("withheld", "a", None, None), ("ready_to_migrate", "a", "b", 100)
    ]  # fmt: skip
    names = ("is_follow_up", "num_withheld", "num_moved", "num_maybe_revoking", "num_ready_to_migrate", "num_unowned")
    assert replay.of("rebalances", *names) == [
        (False, 0, 0, 0, 2, 0), (False, 1, 0, 2, 0, 1), (True, 0, 1, 1, 1, 0)
    ]  # fmt: skip


def test_what_is_withheld_again_goes_on_revoking() -> None:
    log = [
        value(0, 1000, 1, [member("a", "t0 t1")], state=900),
        value(1, 9000, 2, [member("a", "t0", "t0 t1", generation=1), member("b")], state=8900),
        value(2, 9600, 3, [member("a", "t0", "t0 t1", generation=2), member("b", generation=2)], state=9500),
    ]
    replay = replayed(log)
    assert replay.of("ownership_intervals", "phase", "from_time", "to_time", tp="t1") == [
        ("assigned", 1000, 9000), ("revoking", 9000, None)
    ]  # fmt: skip
    assert replay.of("rebalances", "num_withheld", "is_follow_up")[1:] == [(1, False), (1, False)]


def test_what_was_withheld_and_is_given_back_was_never_stopped() -> None:
    log = [
        value(0, 1000, 1, [member("a", "t0 t1")], state=900),
        value(1, 9000, 2, [member("a", "t0", "t0 t1", generation=1), member("b")], state=8900),
        value(2, 9600, 3, [member("a", "t0 t1", "t0 t1", generation=2)], state=9500),
    ]
    replay = replayed(log)
    assert replay.of("ownership_intervals", "phase", "from_time", "to_time", "ended_by", tp="t1") == [
        ("assigned", 1000, 9000, "phase_changed"), ("revoking", 9000, 9600, "phase_changed"),
        ("assigned", 9600, None, None),
    ]  # fmt: skip


def test_a_partition_of_a_member_that_went_moves_to_another() -> None:
    replay = two_rounds([member("a", "t0"), member("b", "t1")], [member("a", "t0 t1", "t0", generation=1)])
    assert replay.of("ownership_intervals", *STAY, tp="t1") == [
        ("b", "assigned", 1000, 8900, "member_left", False), ("a", "assigned", 9000, None, None, True)
    ]  # fmt: skip
    assert replay.of("partition_moves", *MOVE, assignment_offset=1) == [("moved", "b", "a", 100)]


def test_a_partition_of_a_kept_member_that_another_one_gets_is_reassigned() -> None:
    replay = two_rounds([member("a", "t0 t1"), member("b")], [member("a", "t0", generation=1), member("b", "t1")])
    assert replay.of("ownership_intervals", "member_id", "ended_by", tp="t1") == [("a", "reassigned"), ("b", None)]
    assert replay.of("partition_moves", *MOVE, tp="t1", assignment_offset=1) == [("moved", "a", "b", 100)]


def test_a_partition_that_nobody_gets_is_revoked_and_rests_until_somebody_does() -> None:
    log = [
        value(0, 1000, 1, [member("a", "t0 u0", topics=("t", "u"))], state=900),
        value(1, 9000, 2, [member("a", "t0", generation=1)], state=8900),
        value(2, 20_000, 3, [member("a", "t0 u0", generation=2, topics=("t", "u"))], state=19_900),
    ]
    replay = replayed(log)
    assert replay.of("partition_moves", *MOVE, tp="u0") == [
        ("assigned", None, "a", None), ("revoked", "a", None, None), ("assigned", None, "a", 11_100)
    ]  # fmt: skip
    assert replay.of("rebalances", "num_unowned", "stopped_partition_ms") == [(0, 0), (1, 100), (0, 11_200)]


def test_what_an_emptied_group_left_rests_until_members_come() -> None:
    log = [value(0, 1000, 1, [member("a", "t0")], state=900), value(1, 5000, 2, state=4999),
           value(2, 9000, 3, [member("b", "t0")], state=8900)]  # fmt: skip
    replay = replayed(log)
    assert replay.of("ownership_intervals", "member_id", "from_time", "to_time", "ended_by") == [
        ("a", 1000, 4999, "member_left"), ("b", 9000, None, None)
    ]  # fmt: skip
    assert replay.of("partition_moves", *MOVE)[1:] == [("revoked", "a", None, None), ("assigned", None, "b", 4001)]


def test_a_claim_after_missing_records_is_a_stay_that_may_be_older() -> None:
    replay = replayed([value(9, 1000, 4, [member("a", "t0", "t0 t1", generation=3)], state=900)], gaps=Gaps([0], [8]))
    assert replay.of("ownership_intervals", "tp", "phase", "from_time", "is_from_exact") == [
        ("t0", "assigned", 1000, False), ("t1", "revoking", 1000, False)
    ]  # fmt: skip
    assert replay.of("partition_moves", "tp", "kind") == [("t1", "withheld")]


def test_a_claim_without_a_stay_is_not_exact_even_where_no_record_is_missing() -> None:
    replay = two_rounds([member("a", "t0")], [member("a", "t0 t1", "t0 t1", generation=1)])
    assert replay.of("ownership_intervals", "tp", "is_from_exact") == [("t0", True), ("t1", False)]


# -- what should not be


def test_a_partition_given_away_under_its_owner_has_two_owners_and_is_reported() -> None:
    replay = two_rounds(
        [member("a", "t0 t1"), member("b")], [member("a", "t0", "t0 t1", generation=1), member("b", "t1")]
    )
    assert replay.of("ownership_intervals", "member_id", "phase", "to_time", tp="t1") == [
        ("a", "assigned", 9000), ("a", "revoking", None), ("b", "assigned", None)
    ]  # fmt: skip
    assert replay.of("replay_anomalies", "kind", "severity") == [("two_owners", "critical")]
    assert replay.of("partition_moves", *MOVE, tp="t1", assignment_offset=1) == [("moved", "a", "b", 0)]


def test_a_partition_given_to_two_members_is_reported() -> None:
    replay = two_rounds([member("a", "t0")], [member("a", "t0"), member("b", "t0")])
    assert replay.of("replay_anomalies", "kind", "severity", "message") == [
        ("two_owners", "critical", "t-0 was assigned to a and b")
    ]  # fmt: skip
    assert replay.of("ownership_intervals", "member_id", tp="t0", is_open=True) == ["a", "b"]
    assert replay.of("rebalances", "num_partitions")[-1] == 1


def test_two_claims_of_one_generation_are_reported_and_an_older_one_is_not() -> None:
    before = [member("a", "t0"), member("b")]
    after = [member("a", "t0", "t0", generation=1), member("b", "", "t0", generation=1)]
    assert two_rounds(before, after).of("replay_anomalies", "severity", "message") == [
        ("warning", "t-0 was claimed by a and b")
    ]  # fmt: skip
    stale = [member("a", "t0", "t0", generation=1), member("b", "", "t0", generation=0)]
    assert two_rounds(before, stale).rows["replay_anomalies"] == []


def test_a_static_instance_that_stands_twice_is_reported() -> None:
    replay = two_rounds([member("a", "t0")], [member("a", "t0", instance="i"), member("b", instance="i")])
    assert replay.of("replay_anomalies", "kind") == ["duplicate_instance"]


# -- sets of KIP-429


@pytest.mark.parametrize(("had", "claimed", "generation", "given", "expected"), [
    # added, revoked, kept, lost, dropped before the join
    pytest.param("t0", "t0", 1, "t0 t1", ("t1", "", "t0", "", ""), id="added"),
    pytest.param("t0 t1", "t0 t1", 1, "t0", ("", "t1", "t0", "", ""), id="revoked, and a follow-up"),
    pytest.param("t0 t1", "t0", 1, "t0", ("", "", "t0", "", "t1"), id="dropped before the join"),
    pytest.param("t0 t1", "", 1, "t0 t1", ("t0 t1", "", "", "", "t0 t1"), id="eager: all revoked before the join"),
    pytest.param("t0 t1", "", -1, "t0", ("t0", "", "", "t0 t1", ""), id="lost: came back reset"),
    pytest.param("t0 t1", "", None, "t0", ("t0", "", "", "", "t0 t1"), id="an older client is not known to be reset"),
    pytest.param("", "", -1, "t0", ("t0", "", "", "", ""), id="nothing to lose"),
    pytest.param("t0", "t0 t1", 0, "t0", ("", "t1", "t0", "", ""), id="a stale claim is a claim"),
])  # fmt: skip
def test_sets_of_a_member_that_stays(
    had: str, claimed: str, generation: int | None, given: str, expected: tuple[str, ...]
) -> None:
    replay = two_rounds(
        [member("a", had), member("b")], [member("a", given, claimed, generation=generation), member("b")]
    )
    names = ("added", "revoked", "kept", "lost", "dropped_before_join", "previous_assigned", "claimed_owned", "change")
    of_a = replay.one("generation_members", *names, assignment_offset=1, member_id="a")
    assert of_a == (*expected, had, claimed, "kept")


def test_what_was_lost_is_reported_as_such_whoever_gets_it() -> None:
    replay = two_rounds(
        [member("a", "t0 t1 t2"), member("b")], [member("a", "t0", generation=-1), member("b", "t1", generation=1)]
    )
    assert replay.of("partition_moves", "tp", *MOVE, assignment_offset=1) == [
        ("t0", "lost", "a", "a", 100), ("t1", "lost", "a", "b", 100), ("t2", "lost", "a", None, None)
    ]  # fmt: skip
    assert replay.of("rebalances", "num_moved", "num_returned", "num_unowned")[-1] == (1, 1, 1)


def test_a_static_instance_has_what_its_other_id_had() -> None:
    before = [member("a", "t0"), member("b", "t1", instance="i")]
    after = [member("a", "t0", "t0", generation=1), member("z", "t1", instance="i", generation=-1)]
    replay = two_rounds(before, after)
    names = ("previous_assigned", "lost", "change")
    assert replay.one("generation_members", *names, member_id="z") == ("t1", "t1", "restarted")


def test_a_member_that_left_is_reported_with_what_it_had() -> None:
    replay = two_rounds([member("a", "t0"), member("b", "t1", topics=("t",))], [member("a", "t0 t1")])
    names = ("change", "previous_assigned", "claimed_owned", "assigned", "subscribed_topics", "is_leader")
    assert replay.one("generation_members", *names, assignment_offset=1, member_id="b") == (
        "left", "t1", None, "", None, False
    )  # fmt: skip


def test_claims_on_topics_that_the_leader_does_not_know_are_unknown_owned_not_withheld() -> None:
    log = [
        value(0, 1000, 1, [member("a", "t0 u0", topics=("t", "u"))], state=900),
        value(1, 9000, 2, [member("a", "t0", "t0 u0", generation=1, topics=("t",))], state=8900),
    ]
    replay = replayed(log)
    names = ("num_unknown_owned", "num_withheld", "num_maybe_revoking", "num_ready_to_migrate")
    assert replay.of("rebalances", *names)[-1] == (1, 0, 1, 0)
    assert replay.of("partition_moves", *MOVE, tp="u0")[-1] == ("unknown_owned", "a", None, None)


@pytest.mark.parametrize("after", [
    pytest.param([member("a", "t0", "t0 u0", generation=1, topics=("t", "u"))], id="subscribed"),
    pytest.param([member("a", "t0", "t0 u0", generation=1), member("b", "u1")], id="assigned, if not subscribed"),
])  # fmt: skip
def test_topics_that_the_leader_knew_are_withheld(after: list[Row]) -> None:
    replay = two_rounds([member("a", "t0 u0", topics=("t", "u"))], after)
    assert replay.of("rebalances", "num_withheld", "num_unknown_owned")[-1] == (1, 0)


@pytest.mark.parametrize(("protocol", "member_after", "mode"), [
    ("range", member("a", "t0", generation=1), "eager"),
    ("cooperative-sticky", member("a", "t0", "t0", generation=1), "cooperative"),
    # The second bounce of an upgrade: this member is still eager.
    ("cooperative-sticky", member("a", "t0", generation=1), "eager"),
    ("cooperative-sticky", member("a", "t0", generation=-1), "cooperative"),
    ("stream", member("x", "t0"), "cooperative"),
    ("custom", member("x", "t0"), "eager"),
])  # fmt: skip
def test_eager_and_cooperative_are_recognized_by_claims_and_else_by_name(
    protocol: str, member_after: Row, mode: str
) -> None:
    replay = two_rounds([member("a", "t0")], [member_after], protocol=protocol)
    assert replay.of("rebalances", "mode")[-1] == mode
