"""What is read from records of consumer groups: each observation that the coordinator's state machine allows, with the
records that real brokers write for it."""

import json

import pytest

from tests.builders.groups.consumer_logs import FIRST, STATES, of_one, of_two
from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    dead,
    epoch,
    history,
    leaves,
    owns,
    target,
    topics_known,
    waits,
)
from tests.builders.groups.named_rows import named_rows
from udfs.log.gaps import Gaps


def test_a_first_join_makes_the_group_stable_at_once() -> None:
    replay = history(of_one())
    assert replay.select("group_state_intervals", *STATES) == [("Stable", 2, 0, None)]
    assert replay.select("membership_intervals", "member_id", "joined_generation", "is_from_exact") == [("a", 2, True)]
    assert replay.select("ownership_intervals", "tp", "phase", "from_offset", "generation_or_epoch") == [
        (("orders", 0), "assigned", 4, 2),
        (("orders", 1), "assigned", 4, 2),
    ]
    assert replay.select(
        "rebalances", "assignment_offset", "from_generation", "to_generation", "trigger", "outcome"
    ) == [(3, None, 2, "group_created", "completed")]


def test_a_second_member_waits_until_the_first_has_given_up_its_partition() -> None:
    replay = history(of_two())
    assert replay.select("group_state_intervals", *STATES) == [
        ("Stable", 2, 0, 100),
        ("Reconciling", 3, 100, 450),
        ("Stable", 3, 450, None),
    ]
    assert replay.select("ownership_intervals", "member_id", "phase", "from_time", "to_time", "ended_by",
                      tp=("orders", 1)) == [
        ("a", "assigned", 0, 200, "phase_changed"),
        ("a", "revoking", 200, 300, "revoked"),
        ("b", "assigned", 450, None, None),
    ]  # fmt: skip
    (moved,) = replay.rows("partition_moves", kind="moved")
    assert (moved["from_member_id"], moved["to_member_id"], moved["idle_ms"]) == ("a", "b", 150)
    assert moved["assignment_offset"] == 9
    (rebalance,) = replay.rows("rebalances", to_generation=3)
    assert (rebalance["trigger"], rebalance["start_time"], rebalance["end_time"]) == ("member_joined", 100, 450)
    assert (rebalance["num_moved"], rebalance["stopped_partition_ms"], rebalance["outcome"]) == (1, 150, "completed")
    assert (rebalance["members_joined"], rebalance["num_members_before"], rebalance["num_members_after"]) == (
        ["b"], 1, 2
    )  # fmt: skip


def test_a_stay_is_not_cut_when_its_member_reaches_a_newer_epoch() -> None:
    rows = history(of_two()).select("ownership_intervals", "member_id", "generation_or_epoch", "to_time",
                                  tp=("orders", 0))  # fmt: skip
    assert rows == [("a", 2, None)]


def test_targets_that_do_not_change_are_not_written_and_carried_forward() -> None:
    log = of_two()
    log.write(500, about("c"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    members = history(log).select("generation_members", "member_id", "change", "previous_assigned", "assigned",
                                generation_or_epoch=4)  # fmt: skip
    assert members == [("a", "kept", [0], [0]), ("b", "kept", [1], [1]), ("c", "joined", [], [])]


def test_sets_of_a_member_rest_on_what_it_owned() -> None:
    (row,) = history(of_two()).rows("generation_members", generation_or_epoch=3, member_id="a")
    assert (row["claimed_owned"], row["assigned"], row["revoked"], row["kept"], row["added"]) == (
        [0, 1], [0], [1], [0], []
    )  # fmt: skip
    assert (row["lost"], row["dropped_before_join"], row["is_leader"]) == (None, None, None)


def test_who_leaves_is_tombstoned_and_its_partitions_move_with_the_next_target() -> None:
    log = of_two()
    log.write(600, *leaves("a"), epoch(4))
    log.write(900, target("b", 0, 1), completed(4), owns("b", 4, 0, 1, previous=3))
    replay = history(log)
    assert replay.select("membership_intervals", "leave_kind", "confidence", "left_generation", "to_time",
                      member_id="a") == [("left_or_timed_out", "certain", 4, 600)]  # fmt: skip
    assert replay.select("ownership_intervals", "ended_by", "to_time", member_id="a", phase="assigned",
                      tp=("orders", 0)) == [("member_left", 600)]  # fmt: skip
    assert ("Assigning", 4, 600, 900) in replay.select("group_state_intervals", *STATES)
    (rebalance,) = replay.rows("rebalances", to_generation=4)
    assert (rebalance["trigger"], rebalance["members_departed"], rebalance["start_time"]) == ("member_left", ["a"], 600)
    assert rebalance["stopped_partition_ms"] == 300
    assert replay.select("partition_moves", "kind", "idle_ms", "from_member_id", assignment_offset=19) == [
        ("moved", 300, "a")
    ]
    assert replay.select("generation_members", "member_id", "change", assignment_offset=19) == [
        ("b", "kept"), ("a", "left")
    ]  # fmt: skip


def test_a_member_gone_when_its_rebalance_timeout_was_over_was_probably_removed_for_it() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(1_000, owns("a", 2, 0, revoking=[1]))
    log.write(301_050, *leaves("a"), epoch(4))
    assert history(log).select("membership_intervals", "leave_kind", "confidence", member_id="a") == [
        ("rebalance_timeout_likely", "likely")
    ]


@pytest.mark.parametrize("gone_ms", [60_000, 400_000])
def test_a_member_asked_to_revoke_may_go_for_other_reasons(gone_ms: int) -> None:
    log = of_one()
    log.write(1_000, owns("a", 2, 0, revoking=[1]))
    log.write(1_000 + gone_ms, *leaves("a"), epoch(3))
    assert history(log).select("membership_intervals", "leave_kind") == ["left_or_timed_out"]


def test_the_last_leaving_empties_the_group_without_a_target() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    replay = history(log)
    assert replay.select("group_state_intervals", *STATES)[-1] == ("Empty", 3, 500, None)
    (row,) = replay.rows("rebalances", outcome="emptied")
    assert (row["assignment_offset"], row["trigger"], row["from_generation"], row["to_generation"]) == (
        8, "group_emptied", 2, 3
    )  # fmt: skip
    assert (row["num_unowned"], row["is_open"], row["num_members_after"], row["members_departed"]) == (
        2,
        False,
        0,
        ["a"],
    )
    assert replay.select("partition_moves", "kind", assignment_offset=8) == ["revoked", "revoked"]


def test_newer_coordinators_write_a_target_epoch_for_an_emptied_group_too() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None), completed(3))
    assert history(log).select("rebalances", "assignment_offset", "outcome") == [(3, "completed"), (9, "emptied")]


def test_a_deleted_group_has_no_row() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    log.write(600, dead(6), dead(4), dead(3))
    replay = history(log)
    assert replay.select("group_state_intervals", "state", "ended_by", "to_time")[-1] == ("Empty", "deleted", 600)
    assert not any(replay.open.of.values())
    assert replay.rows("replay_anomalies") == []


def test_a_group_that_is_made_again_starts_anew() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    log.write(600, dead(6), dead(4), dead(3))
    log.write(700, about("b"), epoch(2), target("b", 0, 1), completed(2), owns("b", 2, 0, 1, previous=0))
    replay = history(log)
    assert replay.select("rebalances", "from_generation", "trigger")[-1] == (None, "group_created")
    assert replay.select("partition_moves", "kind", "idle_ms", to_member_id="b") == [("assigned", None)] * 2
    assert replay.rows("replay_anomalies") == []


def test_epochs_only_rise() -> None:
    log = of_two()
    log.write(500, epoch(2), completed(1), owns("a", 1, 0))
    assert history(log).select("replay_anomalies", "kind", "record_offset") == [
        ("epoch_went_back", 14), ("epoch_went_back", 15), ("epoch_went_back", 16)
    ]  # fmt: skip


def test_a_partition_has_one_owner() -> None:
    log = of_one()
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    replay = history(log)
    (row,) = replay.rows("replay_anomalies")
    assert (row["kind"], row["severity"]) == ("two_owners", "critical")
    assert "orders-1" in row["message"]
    assert len(replay.rows("ownership_intervals", tp=("orders", 1), is_open=True)) == 2


def test_subscribed_topics_as_the_coordinator_sees_them_are_no_assignment() -> None:
    log = of_one()
    log.write(100, topics_known("orders", record_type=4))
    assert len(history(log).rows("ownership_intervals")) == 2


def test_two_operations_of_one_batch_and_time_are_one() -> None:
    """Lingered: both joins stand in one batch; their own times part them."""
    log = Log()
    log.write(0, *FIRST, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    assert history(log).select("rebalances", "to_generation", "assignment_offset") == [(3, 9)]


def test_a_member_that_is_known_does_not_join_again_by_a_record_that_kept_its_first_epoch() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, owns("a", 2, 0, previous=0))
    replay = history(log, gaps=Gaps([5], [5]))
    # It may have given the partition up in the missing record.
    assert replay.select("ownership_intervals", "to_time", "is_to_exact", tp=("orders", 1)) == [(100, False)]


def test_a_member_that_comes_back_within_one_operation_keeps_its_stays() -> None:
    log = of_one()
    log.write(100, *leaves("a"), about("a"), target("a", 0, 1), owns("a", 0, 0, 1, previous=0), owns("a", 2, 0, 1))
    replay = history(log)
    assert replay.select("ownership_intervals", "from_offset", "is_open") == [(4, True), (4, True)]
    assert replay.select("membership_intervals", "from_offset", "is_open") == [(4, True)]


def test_nothing_is_kept_of_members_that_went() -> None:
    log = of_one()
    log.write(100, *leaves("a"), epoch(3, None))
    assert "a" not in json.loads(history(log).states["g"])["now"]["members"]
    assert not any(key.endswith(" a") for key in json.loads(history(log).states["g"])["seen"])


def test_a_member_without_an_epoch_has_not_reached_the_target() -> None:
    log = of_one()
    log.write(100, about("b"))
    assert history(log).select("group_state_intervals", "state") == ["Stable", "Reconciling"]


def test_a_member_did_not_stop_reading_before_it_joined_however_long_its_session_is_assumed_to_be() -> None:
    """Away after 2 s and removed after 13: its session is shorter than the 45 s that are assumed."""
    log = Log()
    log.write(60_000, about("a", instance="one"), *FIRST[1:])
    log.write(62_000, owns("a", -2, 0, 1, previous=2))
    log.write(73_000, *leaves("a"), epoch(3))
    ends = named_rows(history(log).closed, "reading_ends")
    rows = {(each["stopped_time"], each["first_time"], each["last_time"]) for each in ends if each["stopped_time"]}
    assert rows == {(62_000_000, 60_000_000, 62_000_000)}


def test_a_member_reported_to_have_lost_a_partition_may_name_it_again() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    log.write(200, owns("a", 2, 0, 1, revoking=[]), epoch(3))
    replay = history(log, gaps=Gaps([5], [5]))
    assert replay.select("replay_anomalies", "kind") == ["older_rule", "two_owners"]
    for cut in (5, 7):
        assert history(log, gaps=Gaps([5], [5]), cut=cut).all() == replay.all()


def test_a_group_whose_members_never_had_a_target_is_emptied_too_but_once() -> None:
    log = Log()
    log.write(0, about("a"), epoch(2), owns("a", 1, previous=0))
    log.write(100, *leaves("a"), epoch(3, None))
    log.write(200, epoch(4, None))
    assert history(log).select("rebalances", "outcome", "to_generation", "trigger") == [("emptied", 3, "group_emptied")]


def test_the_epoch_at_which_a_group_was_emptied_may_get_its_target_later() -> None:
    """Who joins by a pattern that is known changes no epoch."""
    log = of_one()
    log.write(100, *leaves("a"), epoch(3, None))
    log.write(200, about("b", topics=(), regex="o.*"), owns("b", 2, previous=0))
    log.write(300, target("b", 0, 1), completed(3), owns("b", 3, 0, 1, previous=2))
    replay = history(log)
    columns = ("from_generation", "to_generation", "assignment_offset", "members_joined")
    assert replay.select("rebalances", *columns)[1:] == [(2, 3, 8, []), (3, 3, 12, ["b"])]
    assert replay.select("generation_members", "member_id", assignment_offset=12) == ["b"]
    assert replay.select("rebalances", "trigger", "start_time", assignment_offset=12) == [("member_joined", 200)]
