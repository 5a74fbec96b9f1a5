"""Groups that go over to another protocol, with the records that real brokers write for each conversion."""

from typing import Any

import pytest

from tests.builders.groups.modern_log import (
    NAMED,
    Log,
    Written,
    about,
    completed,
    dead,
    epoch,
    history,
    leaves,
    owns,
    target,
    tps,
    waits,
)
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue

STATES = ("group_type", "state", "generation_or_epoch", "from_time", "to_time", "ended_by")


def classic(generation: int, *members: tuple[str, list[int]], state_time: int, instance: str | None = None) -> Written:
    """A type 2 value; members with what is assigned to them."""
    of = tuple(
        ClassicMember(
            each, instance, f"client-{each}", "/127.0.0.1", 300_000, 45_000, ("orders",), frozenset(), -1, None,
            tps(assigned, NAMED["orders"]),
        )
        for each, assigned in members
    )  # fmt: skip
    leader = members[0][0] if members else None
    protocol = "range" if members else None
    value = ClassicValue("consumer" if generation else "", generation, protocol, leader, state_time * 1000, of)
    return 2, None, value


def upgraded(*, joiner_target: bool = True) -> Log:
    """A native member joins a classic group of one, which has partitions 0 and 1."""
    log = Log()
    log.write(0, classic(0, state_time=0))
    log.write(50, classic(1, ("c", [0, 1]), state_time=40))
    joins: list[Written] = [about("n"), epoch(2)]
    if joiner_target:
        joins += [target("n", 1), target("c", 0), completed(2)]
    log.write(
        100, dead(2), about("c", is_classic=True), epoch(1), target("c", 0, 1), completed(1),
        owns("c", 1, 0, 1, previous=1), *joins, waits("n", 2 if joiner_target else 1, previous=0),
    )  # fmt: skip
    return log


def finished() -> Log:
    log = upgraded()
    log.write(200, about("c", is_classic=True), owns("c", 2, 0, previous=1))
    log.write(300, owns("n", 2, 1))
    return log


def test_an_online_upgrade_cuts_neither_the_members_stay_nor_what_it_owns() -> None:
    replay = history(finished())
    assert replay.select("membership_intervals", "member_id", "from_time", "to_time") == [
        ("c", 40, None), ("n", 100, None)
    ]  # fmt: skip
    assert replay.select("ownership_intervals", "member_id", "from_time", "to_time", tp=("orders", 0)) == [
        ("c", 50, None)
    ]
    assert replay.select("ownership_intervals", "member_id", "from_time", "to_time", tp=("orders", 1)) == [
        ("c", 50, 200), ("n", 300, None)
    ]  # fmt: skip


def test_the_copied_records_of_an_upgrade_are_no_rebalance_but_the_joiners_own_are() -> None:
    replay = history(finished())
    assert replay.select("rebalances", "group_type", "assignment_offset", "from_generation", "trigger") == [
        ("classic", 1, 0, "group_created"), ("consumer", 12, 1, "protocol_migration")
    ]  # fmt: skip
    assert replay.select("generation_members", "member_id", "change", "previous_assigned", generation_or_epoch=2) == [
        ("c", "kept", [0, 1]), ("n", "joined", [])
    ]  # fmt: skip
    assert replay.select("rebalances", "start_time", "end_time", "num_moved", to_generation=2) == [(100, 300, 1)]


def test_rebalances_after_the_conversion_have_causes_of_their_own() -> None:
    log = finished()
    log.write(500, *leaves("n"), epoch(3))
    log.write(600, target("c", 0, 1), completed(3), owns("c", 3, 0, 1, previous=2))
    assert history(log).select("rebalances", "trigger")[-1] == "member_left"


def test_the_state_goes_over_with_the_group() -> None:
    assert history(finished()).select("group_state_intervals", *STATES)[-3:] == [
        ("classic", "Stable", 1, 50, 100, "converted"),
        ("consumer", "Reconciling", 2, 100, 300, "next_state"),
        ("consumer", "Stable", 2, 300, None, None),
    ]


def test_the_joiners_target_may_come_after_the_upgrade() -> None:
    log = upgraded(joiner_target=False)
    log.write(1_000, target("n", 1), target("c", 0), completed(2), waits("n", 2, previous=1))
    replay = history(log)
    assert replay.select("rebalances", "to_generation", "trigger", "start_time") == [
        (1, "group_created", 40), (2, "protocol_migration", 100)
    ]  # fmt: skip
    assert ("consumer", "Assigning", 2, 100, 1_000, "next_state") in replay.select("group_state_intervals", *STATES)


def test_the_epoch_of_the_copied_target_goes_on_where_a_static_member_returns_with_the_upgrade() -> None:
    """No member joins, so the group has no new epoch and no new target."""
    log = Log()
    log.write(0, classic(0, state_time=0))
    _, _, value = classic(1, ("c", [0]), ("s", [1]), state_time=40, instance="one")
    dynamic, static = value.members
    log.write(50, (2, None, value._replace(members=(dynamic._replace(group_instance_id=None), static))))
    log.write(
        100, dead(2), about("c", is_classic=True), about("s", is_classic=True, instance="one"), epoch(1),
        target("c", 0), target("s", 1), completed(1), owns("c", 1, 0, previous=1), owns("s", 1, 1, previous=1),
        dead(8, "s"), dead(7, "s"), dead(5, "s"), about("n", instance="one"), target("n", 1),
        owns("n", 0, 1, previous=0),
    )  # fmt: skip
    log.write(200, owns("n", 1, 1, previous=0))
    replay = history(log)
    assert replay.rows("replay_anomalies") == []
    assert replay.select("rebalances", "to_generation") == [1]


def downgraded() -> Log:
    """The native member leaves; the classic one goes on with its target."""
    log = finished()
    log.write(
        400, dead(8, "n"), dead(8, "c"), dead(7, "n"), dead(7, "c"), dead(6), dead(5, "n"), dead(5, "c"), dead(4),
        dead(3), classic(2, ("c", [0]), state_time=399),
    )  # fmt: skip
    return log


def test_an_online_downgrade_cuts_neither_the_members_stay_nor_what_it_owns() -> None:
    replay = history(downgraded())
    assert replay.select("membership_intervals", "member_id", "to_time", "leave_kind") == [
        ("c", None, None), ("n", 400, "left_or_timed_out")
    ]  # fmt: skip
    assert replay.select("ownership_intervals", "member_id", "from_time", "to_time", tp=("orders", 0)) == [
        ("c", 50, None)
    ]
    assert replay.select("ownership_intervals", "member_id", "to_time", "ended_by", tp=("orders", 1)) == [
        ("c", 200, "revoked"), ("n", 400, "member_left")
    ]  # fmt: skip
    assert len(replay.rows("rebalances")) == 2
    assert replay.rows("replay_anomalies") == []


def test_after_a_downgrade_by_a_leaving_the_others_are_asked_to_join() -> None:
    assert history(downgraded()).select("group_state_intervals", *STATES)[-2:] == [
        ("consumer", "Stable", 2, 300, 400, "converted"),
        ("classic", "PreparingRebalance", 2, 400, None, None),
    ]


def test_the_generation_after_a_downgrade_hands_out_what_the_leaver_had() -> None:
    log = downgraded()
    log.write(1_000, classic(3, ("c", [0, 1]), state_time=900))
    replay = history(log)
    (row,) = replay.rows("rebalances", to_generation=3)
    assert (row["trigger"], row["from_generation"]) == ("protocol_migration", 2)
    assert replay.select("partition_moves", "idle_ms", tp=("orders", 1), to_member_id="c", move_offset=27) == [600]


def test_a_classic_static_member_that_takes_the_last_native_ones_place_is_no_leaving() -> None:
    log = Log()
    log.write(0, about("n", instance="one"), epoch(2), target("n", 0), completed(2), owns("n", 2, 0, previous=0))
    log.write(100, dead(8, "n"), dead(7, "n"), dead(6), dead(5, "n"), dead(4), dead(3),
              classic(2, ("c", [0]), state_time=99, instance="one"))  # fmt: skip
    replay = history(log)
    assert replay.select("membership_intervals", "member_id", "leave_kind") == [("n", "static_replaced"), ("c", None)]
    assert replay.select("ownership_intervals", "member_id", "ended_by") == [("n", "static_replaced"), ("c", None)]
    assert replay.select("group_state_intervals", "group_type", "state")[-1] == ("classic", "Stable")


def test_an_empty_consumer_group_that_a_classic_member_joins_starts_at_generation_0() -> None:
    log = Log()
    log.write(0, about("n"), epoch(2), target("n", 0), completed(2), owns("n", 2, 0, previous=0))
    log.write(100, *leaves("n"), epoch(3, None))
    log.write(200, dead(6), dead(4), dead(3), classic(0, state_time=200))
    log.write(300, classic(1, ("c", [0]), state_time=290))
    replay = history(log)
    reported: list[Any] = replay.select("group_state_intervals", "group_type", "generation_or_epoch", "ended_by")
    assert reported[:2] == [("consumer", 2, "next_state"), ("consumer", 3, "converted")]
    assert reported[2][:2] == ("classic", 0)
    assert replay.select("rebalances", "group_type", "to_generation")[-1] == ("classic", 1)
    assert replay.rows("replay_anomalies") == []


@pytest.mark.parametrize("state_time", [90, 195, 250])
def test_a_group_is_never_of_two_types_at_once(state_time: int) -> None:
    """The classic value's own time lies before its record's."""
    log = Log()
    log.write(0, about("n"), epoch(2), target("n", 0), completed(2), owns("n", 2, 0, previous=0))
    log.write(100, *leaves("n"), epoch(3, None))
    log.write(200, dead(6), dead(4), dead(3), classic(0, state_time=state_time))
    reported = history(log).select("group_state_intervals", "from_time", "to_time")
    assert reported[1:] == [(100, 200), (200, None)]


def test_an_empty_classic_group_becomes_a_consumer_group() -> None:
    log = Log()
    log.write(0, classic(0, state_time=0))
    log.write(50, classic(1, ("c", [0]), state_time=40))
    log.write(90, classic(2, state_time=80))
    log.write(100, dead(2), about("n"), epoch(2), target("n", 0), completed(2), owns("n", 2, 0, previous=0))
    replay = history(log)
    assert replay.select("group_state_intervals", "group_type", "state", "from_time", "ended_by")[-2:] == [
        ("classic", "Empty", 80, "converted"), ("consumer", "Stable", 100, None)
    ]  # fmt: skip
    assert replay.select("rebalances", "from_generation", "trigger")[-1] == (None, "protocol_migration")


def test_an_empty_classic_group_becomes_a_streams_group() -> None:
    log = Log()
    log.write(0, classic(0, state_time=0))
    log.write(100, dead(2), about("s", record_type=19), epoch(2, record_type=17))
    assert history(log).select("group_state_intervals", "group_type", "ended_by") == [
        ("classic", "converted"), ("streams", None)
    ]  # fmt: skip


def test_a_consumer_group_in_place_of_a_simple_one_is_a_new_group() -> None:
    """The tombstone of the simple group meets no group that the log knows."""
    log = Log()
    log.write(0, dead(2), about("n"), epoch(2), target("n", 0), completed(2), owns("n", 2, 0, previous=0))
    assert history(log).select("rebalances", "trigger") == ["group_created"]


def test_conversions_survive_every_cut_between_runs() -> None:
    log = downgraded()
    log.write(1_000, classic(3, ("c", [0, 1]), state_time=900))
    whole = history(log).all()
    batches = [record.offset for record in log.records if record.offset == record.batch]
    for cut in batches:
        assert history(log, cut=cut).all() == whole, cut


def test_what_goes_over_rests_on_the_newest_classic_value_also_where_a_run_ended_before() -> None:
    """The stay began with the value at 1, that at 2 names it again."""
    log = Log()
    log.write(0, classic(0, state_time=0))
    for time in (50, 80):
        log.write(time, classic(1, ("c", [0]), state_time=40, instance="i"))
    log.write(
        100, dead(2), about("c", instance="i", is_classic=True), epoch(1), target("c", 0), completed(1),
        owns("c", 1, 0, previous=1), about("n"), epoch(2),
    )  # fmt: skip
    whole = history(log)
    assert whole.select("ownership_intervals", "from_offset", "evidence_last_offset", is_open=True) == [(1, 2)]
    for cut in (1, 2, 3):
        assert history(log, cut=cut).all() == whole.all(), cut
