"""Static members of consumer groups: they leave for a while, return under another id, or expire."""

from tests.builders.groups.consumer_logs import FIRST, STATES
from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    epoch,
    history,
    leaves,
    owns,
    target,
    waits,
)


def test_a_static_member_that_is_away_keeps_its_partitions() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    replay = history(log)
    assert replay.select("ownership_intervals", "phase", "to_time", tp=("orders", 0)) == [
        ("assigned", 100),
        ("held", None),
    ]
    assert replay.select("membership_intervals", "away_since_time", "is_open") == [(100, True)]
    # As the coordinator says: a member at epoch -2 has not reached the target.
    assert replay.select("group_state_intervals", *STATES)[-1] == ("Reconciling", 2, 100, None)
    assert len(replay.rows("rebalances")) == 1


def static_return(log: Log, old: str, new: str, at: int) -> None:
    copy = owns(new, 0, 0, 1, previous=0)
    log.write(
        at, *leaves(old), about(new, instance="one"), target(new, 0, 1), copy, owns(new, 2, 0, 1, previous=0)
    )  # fmt: skip


def test_a_static_return_is_neither_a_leaving_nor_a_rebalance() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    static_return(log, "a", "a2", 300)
    replay = history(log)
    assert replay.select("membership_intervals", "member_id", "leave_kind", "to_time") == [
        ("a", "static_replaced", 300), ("a2", None, None)
    ]  # fmt: skip
    assert replay.select("ownership_intervals", "member_id", "phase", "ended_by", tp=("orders", 0)) == [
        ("a", "assigned", "phase_changed"), ("a", "held", "static_replaced"), ("a2", "assigned", None)
    ]  # fmt: skip
    assert len(replay.rows("rebalances")) == 1
    assert replay.rows("partition_moves", to_member_id="a2") == []
    assert replay.rows("replay_anomalies") == []


def test_who_comes_back_under_another_id_was_in_the_assignment_before() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    static_return(log, "a", "a2", 300)
    log.write(500, about("b"), epoch(3), target("a2", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    replay = history(log)
    assert replay.select("generation_members", "member_id", "change", "previous_assigned", generation_or_epoch=3) == [
        ("a2", "kept", [0, 1]), ("b", "joined", [])
    ]  # fmt: skip
    assert replay.select("rebalances", "members_joined", "members_departed", to_generation=3) == [(["b"], [])]


def test_a_static_return_with_another_subscription_sets_a_rebalance_off() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(
        300, *leaves("a"), about("a2", instance="one"), target("a2", 0, 1), owns("a2", 0, 0, 1, previous=0),
        about("a2", instance="one", topics=["orders", "payments"]), epoch(3), target("a2", 0), completed(3),
        owns("a2", 2, 0, revoking=[1], previous=0),
    )  # fmt: skip
    replay = history(log)
    assert replay.select("rebalances", "trigger", "members_joined", "members_departed", to_generation=3) == [
        ("static_restart", [], [])
    ]
    assert replay.select("generation_members", "member_id", "change", generation_or_epoch=3) == [("a2", "restarted")]


def test_a_static_member_that_does_not_come_back_expires() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    log.write(45_100, *leaves("a"), epoch(3, None))
    assert history(log).select("membership_intervals", "leave_kind", "confidence", "away_since_time") == [
        ("static_expired_likely", "likely", 100)
    ]


def test_who_was_away_and_expired_does_not_count_as_away_any_more() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, about("b"), epoch(3), completed(3), owns("b", 3, previous=0))
    log.write(200, owns("a", -2, 0, 1, previous=2))
    log.write(300, *leaves("a"), epoch(4))
    log.write(400, target("b", 0, 1), completed(4))
    assert history(log).select("rebalances", "outcome", to_generation=4) == ["open"]


def test_a_member_is_away_since_its_first_record_of_it_and_until_it_is_back() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    log.write(200, owns("a", -2, 0, previous=-2))
    assert history(log).select("membership_intervals", "away_since_time") == [100]
    log.write(300, owns("a", 2, 0, previous=-2))
    assert history(log).select("membership_intervals", "away_since_time") == [None]
