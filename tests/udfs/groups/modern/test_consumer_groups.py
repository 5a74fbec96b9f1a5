"""What is read from records of consumer groups: each observation that the coordinator's state machine allows, with the
records that real brokers write for it."""

import json

import pytest

from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    dead,
    epoch,
    history,
    leaves,
    owns,
    pattern,
    target,
    topics_known,
    waits,
)
from tests.builders.groups.named_rows import named_rows
from udfs.log.gaps import Gaps

FIRST = (about("a"), epoch(2), target("a", 0, 1), completed(2), owns("a", 2, 0, 1, previous=0))


def of_one() -> Log:
    log = Log()
    log.write(0, *FIRST)
    return log


def of_two() -> Log:
    """`a` gives partition 1 up for `b`."""
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(200, owns("a", 2, 0, revoking=[1]))
    log.write(300, owns("a", 3, 0, previous=2))
    log.write(450, owns("b", 3, 1))
    return log


STATES = ("state", "generation_or_epoch", "from_time", "to_time")


def test_a_first_join_makes_the_group_stable_at_once() -> None:
    found = history(of_one())
    assert found.told("group_state_intervals", *STATES) == [("Stable", 2, 0, None)]
    assert found.told("membership_intervals", "member_id", "joined_generation", "is_from_exact") == [("a", 2, True)]
    assert found.told("ownership_intervals", "tp", "phase", "from_offset", "generation_or_epoch") == [
        (("orders", 0), "assigned", 4, 2),
        (("orders", 1), "assigned", 4, 2),
    ]
    assert found.told("rebalances", "assignment_offset", "from_generation", "to_generation", "trigger", "outcome") == [
        (3, None, 2, "group_created", "completed")
    ]


def test_a_second_member_waits_until_the_first_has_given_up_its_partition() -> None:
    found = history(of_two())
    assert found.told("group_state_intervals", *STATES) == [
        ("Stable", 2, 0, 100),
        ("Reconciling", 3, 100, 450),
        ("Stable", 3, 450, None),
    ]
    assert found.told("ownership_intervals", "member_id", "phase", "from_time", "to_time", "ended_by",
                      tp=("orders", 1)) == [
        ("a", "assigned", 0, 200, "phase_changed"),
        ("a", "revoking", 200, 300, "revoked"),
        ("b", "assigned", 450, None, None),
    ]  # fmt: skip
    (moved,) = found.rows("partition_moves", kind="moved")
    assert (moved["from_member_id"], moved["to_member_id"], moved["idle_ms"]) == ("a", "b", 150)
    assert moved["assignment_offset"] == 9
    (rebalance,) = found.rows("rebalances", to_generation=3)
    assert (rebalance["trigger"], rebalance["start_time"], rebalance["end_time"]) == ("member_joined", 100, 450)
    assert (rebalance["num_moved"], rebalance["stopped_partition_ms"], rebalance["outcome"]) == (1, 150, "completed")
    assert (rebalance["members_joined"], rebalance["num_members_before"], rebalance["num_members_after"]) == (
        ["b"], 1, 2
    )  # fmt: skip


def test_a_stay_is_not_cut_when_its_member_reaches_a_newer_epoch() -> None:
    rows = history(of_two()).told("ownership_intervals", "member_id", "generation_or_epoch", "to_time",
                                  tp=("orders", 0))  # fmt: skip
    assert rows == [("a", 2, None)]


def test_targets_that_do_not_change_are_not_written_and_carried_forward() -> None:
    log = of_two()
    log.write(500, about("c"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    members = history(log).told("generation_members", "member_id", "change", "previous_assigned", "assigned",
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
    found = history(log)
    assert found.told("membership_intervals", "leave_kind", "confidence", "left_generation", "to_time",
                      member_id="a") == [("left_or_timed_out", "certain", 4, 600)]  # fmt: skip
    assert found.told("ownership_intervals", "ended_by", "to_time", member_id="a", phase="assigned",
                      tp=("orders", 0)) == [("member_left", 600)]  # fmt: skip
    assert ("Assigning", 4, 600, 900) in found.told("group_state_intervals", *STATES)
    (rebalance,) = found.rows("rebalances", to_generation=4)
    assert (rebalance["trigger"], rebalance["members_departed"], rebalance["start_time"]) == ("member_left", ["a"], 600)
    assert rebalance["stopped_partition_ms"] == 300
    assert found.told("partition_moves", "kind", "idle_ms", "from_member_id", assignment_offset=19) == [
        ("moved", 300, "a")
    ]
    assert found.told("generation_members", "member_id", "change", assignment_offset=19) == [
        ("b", "kept"), ("a", "left")
    ]  # fmt: skip


def test_a_member_gone_when_its_rebalance_timeout_was_over_was_probably_removed_for_it() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(1_000, owns("a", 2, 0, revoking=[1]))
    log.write(301_050, *leaves("a"), epoch(4))
    assert history(log).told("membership_intervals", "leave_kind", "confidence", member_id="a") == [
        ("rebalance_timeout_likely", "likely")
    ]


@pytest.mark.parametrize("gone_ms", [60_000, 400_000])
def test_a_member_asked_to_revoke_may_go_for_other_reasons(gone_ms: int) -> None:
    log = of_one()
    log.write(1_000, owns("a", 2, 0, revoking=[1]))
    log.write(1_000 + gone_ms, *leaves("a"), epoch(3))
    assert history(log).told("membership_intervals", "leave_kind") == ["left_or_timed_out"]


def test_the_last_leaving_empties_the_group_without_a_target() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    found = history(log)
    assert found.told("group_state_intervals", *STATES)[-1] == ("Empty", 3, 500, None)
    (row,) = found.rows("rebalances", outcome="emptied")
    assert (row["assignment_offset"], row["trigger"], row["from_generation"], row["to_generation"]) == (
        8, "group_emptied", 2, 3
    )  # fmt: skip
    assert (row["num_unowned"], row["is_open"], row["num_members_after"], row["members_departed"]) == (
        2,
        False,
        0,
        ["a"],
    )
    assert found.told("partition_moves", "kind", assignment_offset=8) == ["revoked", "revoked"]


def test_newer_coordinators_write_a_target_epoch_for_an_emptied_group_too() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None), completed(3))
    assert history(log).told("rebalances", "assignment_offset", "outcome") == [(3, "completed"), (9, "emptied")]


def test_a_static_member_that_is_away_keeps_its_partitions() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    found = history(log)
    assert found.told("ownership_intervals", "phase", "to_time", tp=("orders", 0)) == [
        ("assigned", 100),
        ("held", None),
    ]
    assert found.told("membership_intervals", "away_since_time", "is_open") == [(100, True)]
    # As the coordinator says: a member at epoch -2 has not reached the target.
    assert found.told("group_state_intervals", *STATES)[-1] == ("Reconciling", 2, 100, None)
    assert len(found.rows("rebalances")) == 1


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
    found = history(log)
    assert found.told("membership_intervals", "member_id", "leave_kind", "to_time") == [
        ("a", "static_replaced", 300), ("a2", None, None)
    ]  # fmt: skip
    assert found.told("ownership_intervals", "member_id", "phase", "ended_by", tp=("orders", 0)) == [
        ("a", "assigned", "phase_changed"), ("a", "held", "static_replaced"), ("a2", "assigned", None)
    ]  # fmt: skip
    assert len(found.rows("rebalances")) == 1
    assert found.rows("partition_moves", to_member_id="a2") == []
    assert found.rows("replay_anomalies") == []


def test_who_comes_back_under_another_id_was_in_the_assignment_before() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    static_return(log, "a", "a2", 300)
    log.write(500, about("b"), epoch(3), target("a2", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    found = history(log)
    assert found.told("generation_members", "member_id", "change", "previous_assigned", generation_or_epoch=3) == [
        ("a2", "kept", [0, 1]), ("b", "joined", [])
    ]  # fmt: skip
    assert found.told("rebalances", "members_joined", "members_departed", to_generation=3) == [(["b"], [])]


def test_a_static_return_with_another_subscription_sets_a_rebalance_off() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(
        300, *leaves("a"), about("a2", instance="one"), target("a2", 0, 1), owns("a2", 0, 0, 1, previous=0),
        about("a2", instance="one", topics=["orders", "payments"]), epoch(3), target("a2", 0), completed(3),
        owns("a2", 2, 0, revoking=[1], previous=0),
    )  # fmt: skip
    found = history(log)
    assert found.told("rebalances", "trigger", "members_joined", "members_departed", to_generation=3) == [
        ("static_restart", [], [])
    ]
    assert found.told("generation_members", "member_id", "change", generation_or_epoch=3) == [("a2", "restarted")]


def test_a_static_member_that_does_not_come_back_expires() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    log.write(45_100, *leaves("a"), epoch(3, None))
    assert history(log).told("membership_intervals", "leave_kind", "confidence", "away_since_time") == [
        ("static_expired_likely", "likely", 100)
    ]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"topics": ["orders", "payments"]}, "subscription_changed"),
        ({"regex": "o.*"}, "subscription_changed"),
        ({"assignor": "range"}, "assignor_changed"),
    ],
)
def test_what_a_member_wants_anew_sets_off_the_rebalance(changed: dict[str, object], expected: str) -> None:
    log = of_one()
    log.write(100, about("a", **changed), epoch(3), completed(3), owns("a", 3, 0, 1, previous=2))  # type: ignore[arg-type]
    assert history(log).told("rebalances", "trigger") == ["group_created", expected]


def test_another_client_is_no_rebalance() -> None:
    log = of_one()
    log.write(100, about("a", rebalance_timeout_ms=1))
    found = history(log)
    assert (len(found.rows("rebalances")), len(found.rows("group_state_intervals"))) == (1, 1)


def test_an_epoch_without_a_members_record_is_a_change_of_topics() -> None:
    log = of_one()
    log.write(100, epoch(3, 8), target("a", 0, 1, 2), completed(3), owns("a", 3, 0, 1, 2, previous=2))
    assert history(log).told("rebalances", "trigger") == ["group_created", "metadata_changed"]


def test_an_epoch_with_the_same_hash_and_no_members_record_has_no_cause_in_the_log() -> None:
    log = of_one()
    log.write(100, epoch(3, 7), completed(3), owns("a", 3, 0, 1, previous=2))
    assert history(log).told("rebalances", "trigger") == ["group_created", "unknown"]


def test_a_pattern_that_matches_other_topics_sets_off_a_rebalance() -> None:
    log = Log()
    log.write(0, about("a", topics=(), regex="o.*"), owns("a", 1, previous=0))
    log.write(50, pattern("o.*", "orders"), epoch(2))
    log.write(60, target("a", 0), completed(2), owns("a", 2, 0, previous=1))
    log.write(100, pattern("o.*", "orders", "other"), epoch(3, 9))
    log.write(200, completed(3), owns("a", 3, 0, previous=2))
    assert history(log).told("rebalances", "trigger", "start_time") == [("group_created", 50), ("regex_resolved", 100)]
    assert history(log).told("generation_members", "subscribed_topics") == [["orders"], ["orders", "other"]]


def test_a_pattern_resolved_again_to_the_same_topics_is_no_change() -> None:
    log = of_one()
    log.write(50, pattern("o.*", "orders"), epoch(3))
    log.write(60, completed(3), owns("a", 3, 0, 1, previous=2))
    log.write(100, pattern("o.*", "orders"))
    log.write(200, epoch(4, 8), completed(4), owns("a", 4, 0, 1, previous=3))
    assert history(log).told("rebalances", "trigger")[1:] == ["regex_resolved", "metadata_changed"]


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_pattern_resolved_to_the_same_topics_in_another_order_is_no_change(is_cut: bool) -> None:
    log = of_one()
    log.write(50, pattern("o.*", "orders", "other"), epoch(3))
    log.write(60, completed(3))
    cut = len(log.records) if is_cut else None
    log.write(100, pattern("o.*", "other", "orders"))
    log.write(200, epoch(4, 8), completed(4))
    triggers = history(log, cut=cut).told("rebalances", "trigger")
    assert triggers == ["group_created", "regex_resolved", "metadata_changed"]


def test_who_joins_by_pattern_alone_sets_off_the_rebalance_when_the_pattern_is_resolved() -> None:
    log = of_one()
    log.write(100, about("b", topics=(), regex="o.*"), owns("b", 2, previous=0))
    log.write(150, pattern("o.*", "orders"), epoch(3))
    log.write(160, target("a", 0), target("b", 1), completed(3))
    found = history(log)
    assert found.told("rebalances", "trigger", "members_joined", to_generation=3) == [("member_joined", ["b"])]


def test_a_member_may_stand_before_the_groups_first_epoch() -> None:
    log = Log()
    log.write(0, about("a", topics=(), regex="o.*"), owns("a", 1, previous=0))
    assert history(log).told("group_state_intervals", *STATES) == [("Stable", 1, 0, None)]
    assert history(log, first_epoch=0).told("group_state_intervals", "generation_or_epoch") == [0]


def test_a_group_epoch_may_wait_for_its_target_and_never_get_one() -> None:
    """4.3: group epochs 2, 3, 4 and target epochs 2, 4."""
    log = of_one()
    log.write(100, about("b"), epoch(3), owns("b", 2, previous=0))
    log.write(200, about("c"), epoch(4), owns("c", 2, previous=0))
    log.write(1_000, target("a", 0), target("b", 1), target("c"), completed(4), owns("c", 4, previous=2))
    found = history(log)
    assert found.told("group_state_intervals", *STATES) == [
        ("Stable", 2, 0, 100), ("Assigning", 3, 100, 200), ("Assigning", 4, 200, 1_000), ("Reconciling", 4, 1_000, None)
    ]  # fmt: skip
    (row,) = found.rows("rebalances", to_generation=4)
    assert (row["from_generation"], row["start_time"], row["trigger"], row["members_joined"]) == (
        2, 100, "member_joined", ["b", "c"]
    )  # fmt: skip
    assert row["unpersisted_rounds"] is None
    assert found.rows("replay_anomalies") == []


def test_a_target_without_changes_is_a_rebalance_all_the_same() -> None:
    log = of_two()
    log.write(500, epoch(4, 8), completed(4), owns("a", 4, 0, previous=3))
    log.write(600, owns("b", 4, 1, previous=3))
    (row,) = history(log).rows("rebalances", to_generation=4)
    assert (row["num_moved"], row["stopped_partition_ms"], row["end_time"], row["outcome"]) == (0, 0, 600, "completed")


def test_a_newer_target_supersedes_one_that_members_have_not_reached() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(200, owns("a", 2, 0, revoking=[1]))
    log.write(300, owns("a", 3, 0, previous=2))
    log.write(350, epoch(4, 8), target("b"), target("a", 0, 1), completed(4), owns("b", 4, previous=3))
    log.write(400, owns("a", 4, 0, 1, previous=3))
    found = history(log)
    assert found.told("rebalances", "to_generation", "outcome", "end_time", "num_unowned", "num_returned") == [
        (2, "completed", 0, 0, 0), (3, "superseded", 350, 1, 0), (4, "completed", 400, 0, 1)
    ]  # fmt: skip
    assert found.told("partition_moves", "kind", "assignment_offset", "idle_ms", tp=("orders", 1)) == [
        ("assigned", 3, None), ("revoked", 9, None), ("returned", 16, 100)
    ]  # fmt: skip


def test_a_rebalance_is_open_until_every_member_has_reached_its_target() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(200, owns("a", 3, 0, previous=2))
    found = history(log)
    (row,) = found.rows("rebalances", is_open=True)
    assert (row["outcome"], row["end_time"], row["duration_ms"], row["num_unowned"]) == ("open", None, None, 1)
    assert found.told("partition_moves", "kind", "is_open", tp=("orders", 1)) == [
        ("assigned", False),
        ("revoked", True),
    ]


def test_a_static_member_that_is_away_does_not_keep_a_rebalance_open() -> None:
    log = of_two()
    log.write(500, about("c", instance="one"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    log.write(600, owns("a", 4, 0, previous=3))
    log.write(700, owns("c", -2, previous=4))
    log.write(800, owns("b", 4, 1, previous=3))
    assert history(log).told("rebalances", "outcome", "end_time", to_generation=4) == [("completed", 800)]


def test_a_topic_unsubscribed_is_revoked_and_nobodys() -> None:
    log = of_one()
    log.write(100, about("a", topics=["payments"]), epoch(3), target("a"), completed(3), owns("a", 2, revoking=[0, 1]))
    log.write(200, owns("a", 3, previous=2))
    found = history(log)
    assert (
        found.told("partition_moves", "kind", "to_member_id", "is_open", assignment_offset=8)
        == [("revoked", None, False)] * 2
    )
    assert found.told("rebalances", "num_unowned", to_generation=3) == [2]


def test_the_assignor_in_force_is_the_one_that_most_members_name() -> None:
    log = Log()
    log.write(0, about("a", assignor="range"), epoch(2), completed(2), owns("a", 2, previous=0))
    log.write(1, about("b", assignor="uniform"), about("c", assignor="uniform"))
    log.write(2, *leaves("b"), *leaves("c"), epoch(3))
    log.write(3, about("a"))
    assert history(log).told("group_state_intervals", "assignor") == [
        "range", "uniform", "range", None
    ]  # fmt: skip


def test_a_deleted_group_has_no_row() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    log.write(600, dead(6), dead(4), dead(3))
    found = history(log)
    assert found.told("group_state_intervals", "state", "ended_by", "to_time")[-1] == ("Empty", "deleted", 600)
    assert not any(found.open.of.values())
    assert found.rows("replay_anomalies") == []


def test_a_group_that_is_made_again_starts_anew() -> None:
    log = of_one()
    log.write(500, *leaves("a"), epoch(3, None))
    log.write(600, dead(6), dead(4), dead(3))
    log.write(700, about("b"), epoch(2), target("b", 0, 1), completed(2), owns("b", 2, 0, 1, previous=0))
    found = history(log)
    assert found.told("rebalances", "from_generation", "trigger")[-1] == (None, "group_created")
    assert found.told("partition_moves", "kind", "idle_ms", to_member_id="b") == [("assigned", None)] * 2
    assert found.rows("replay_anomalies") == []


def test_epochs_only_rise() -> None:
    log = of_two()
    log.write(500, epoch(2), completed(1), owns("a", 1, 0))
    assert history(log).told("replay_anomalies", "kind", "record_offset") == [
        ("epoch_went_back", 14), ("epoch_went_back", 15), ("epoch_went_back", 16)
    ]  # fmt: skip


def test_a_partition_has_one_owner() -> None:
    log = of_one()
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    found = history(log)
    (row,) = found.rows("replay_anomalies")
    assert (row["kind"], row["severity"]) == ("two_owners", "critical")
    assert "orders-1" in row["message"]
    assert len(found.rows("ownership_intervals", tp=("orders", 1), is_open=True)) == 2


def test_behind_missing_records_a_new_owner_tells_that_the_old_one_gave_up() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    found = history(log, gaps=Gaps([5], [5]))
    assert found.told("ownership_intervals", "member_id", "ended_by", "is_to_exact", tp=("orders", 1)) == [
        ("a", "reassigned", False), ("b", None, True)
    ]  # fmt: skip
    assert found.told("replay_anomalies", "kind", "severity") == [("older_rule", "info")]


def test_targets_without_the_record_that_completes_them_are_told() -> None:
    log = of_one()
    log.write(100, epoch(3), target("a", 0))
    log.write(200, owns("a", 2, 0, 1))
    assert history(log).told("replay_anomalies", "kind", "evidence_first_offset") == [("target_write_incomplete", 6)]


def test_targets_whose_completion_may_have_been_cleaned_away_are_no_finding() -> None:
    log = of_one()
    log.write(100, epoch(3), target("a", 0))
    log.skip(1)
    log.write(200, owns("a", 2, 0, 1))
    assert history(log, gaps=Gaps([7], [7])).rows("replay_anomalies") == []


def test_a_static_copy_whose_tombstones_were_cleaned_away_is_no_finding() -> None:
    log = of_one()
    log.skip(3)
    log.write(100, about("a2", instance="one"), target("a2", 0), owns("a2", 0, 0, previous=0))
    log.write(200, owns("a2", 2, 0))
    found = history(log, gaps=Gaps([5], [7])).told("replay_anomalies", "kind")
    assert "target_write_incomplete" not in found


def test_a_member_removed_with_its_assignment_is_told() -> None:
    log = of_one()
    log.write(100, dead(5, "a"), epoch(3))
    assert history(log).told("replay_anomalies", "kind") == ["impossible_order"]


def test_a_group_deleted_with_members_is_told() -> None:
    log = of_one()
    log.write(100, dead(3))
    found = history(log)
    assert found.told("replay_anomalies", "kind") == ["impossible_order"]
    assert found.told("membership_intervals", "leave_kind") == ["group_deleted"]


def test_a_record_of_another_type_of_group_is_told() -> None:
    log = of_one()
    log.write(100, about("s", record_type=10), epoch(2, record_type=11))
    found = history(log)
    assert found.told("replay_anomalies", "kind") == ["type_conflict"]
    assert found.told("group_state_intervals", "group_type", "ended_by") == [
        ("consumer", "converted"), ("share", None)
    ]  # fmt: skip


def test_subscribed_topics_as_the_coordinator_sees_them_are_no_assignment() -> None:
    log = of_one()
    log.write(100, topics_known("orders", record_type=4))
    assert len(history(log).rows("ownership_intervals")) == 2


def test_two_operations_of_one_batch_and_time_are_one() -> None:
    """Lingered: both joins stand in one batch; their own times part them."""
    log = Log()
    log.write(0, *FIRST, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    assert history(log).told("rebalances", "to_generation", "assignment_offset") == [(3, 9)]


def test_a_member_that_is_known_does_not_join_again_by_a_record_that_kept_its_first_epoch() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, owns("a", 2, 0, previous=0))
    found = history(log, gaps=Gaps([5], [5]))
    # It may have given the partition up in the missing record.
    assert found.told("ownership_intervals", "to_time", "is_to_exact", tp=("orders", 1)) == [(100, False)]


def test_behind_a_hole_nothing_is_claimed() -> None:
    log = of_two()
    log.write(500, about("c"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    whole = len(log.records)
    log.skip(100)
    log.write(9_000, owns("a", 7, 0, previous=6))
    found = history(log, gaps=Gaps([19], [118]), hole=whole)
    for table in ("group_state_intervals", "membership_intervals", "ownership_intervals"):
        rows = found.rows(table)
        assert {(row["to_time"], row["is_to_exact"]) for row in rows if row["ended_by"] == "coverage_hole"} == {
            (500, False)
        }
        assert [row["from_offset"] for row in rows if row["is_open"]] == [119]
        assert not any(row["is_from_exact"] for row in rows if row["is_open"])
    (row,) = found.rows("rebalances", to_generation=4)
    assert (row["outcome"], row["is_open"], row["end_time"]) == ("open", False, None)
    # The others have nothing to write as long as nothing changes.
    (state,) = found.rows("group_state_intervals", is_open=True)
    assert (state["state"], state["generation_or_epoch"]) == ("Stable", None)
    assert (state["num_members"], state["confidence"]) == (None, "possible")


def test_whoever_is_left_behind_a_hole_is_not_known_until_the_group_is_a_new_one() -> None:
    log = of_two()
    whole, last = len(log.records), log.records[-1].offset
    log.skip(100)
    log.write(9_000, *leaves("a"), epoch(8), completed(8))
    log.write(9_100, dead(6), dead(3))
    log.write(9_200, about("c"), epoch(2), target("c", 0), completed(2), owns("c", 2, 0, previous=0))
    found = history(log, gaps=Gaps([last + 1], [last + 100]), hole=whole)
    assert found.told("group_state_intervals", "state", "num_members", "confidence")[-2:] == [
        (None, None, "possible"), ("Stable", 1, "certain"),
    ]  # fmt: skip


def test_a_group_met_in_the_middle_has_no_epochs_until_they_are_written() -> None:
    log = Log(50)
    log.write(0, owns("a", 7, 0, previous=6))
    log.write(100, completed(8))
    log.write(200, epoch(9))
    found = history(log, gaps=Gaps([0], [49]))
    assert found.told("group_state_intervals", "state", "generation_or_epoch", "confidence") == [
        ("Stable", None, "likely"), ("Reconciling", None, "likely"), ("Assigning", 9, "certain")
    ]  # fmt: skip
    assert found.told("membership_intervals", "client_id", "is_from_exact") == [(None, False)]
    assert found.told("rebalances", "trigger", "confidence", "is_start_exact") == [("unknown", "possible", False)]


def test_the_first_epoch_of_all_proves_a_new_group_whatever_is_missing() -> None:
    log = Log(50)
    log.write(0, about("a"), epoch(2), owns("a", 1, previous=0))
    log.write(100, target("a", 0), completed(2), owns("a", 2, 0, previous=1))
    found = history(log, gaps=Gaps([0], [49]))
    assert found.told("group_state_intervals", "state") == ["Assigning", "Stable"]
    assert found.told("rebalances", "trigger") == ["group_created"]
    assert found.told("membership_intervals", "is_from_exact") == [True]


def test_who_goes_where_records_are_missing_went_for_reasons_unknown() -> None:
    log = of_one()
    log.skip(2)
    log.write(100, *leaves("a"), epoch(3))
    found = history(log, gaps=Gaps([5], [6]))
    assert found.told("membership_intervals", "leave_kind", "is_to_exact") == [("unknown", False)]


def test_tombstones_of_what_is_not_there_are_nothing() -> None:
    log = Log()
    log.write(0, *leaves("a"), dead(6), dead(16, "a.*"), dead(4), dead(3))
    found = history(log)
    assert found.all() == history(Log()).all()


def test_leftover_tombstones_of_members_nobody_knows_are_nothing() -> None:
    log = of_one()
    log.write(100, *leaves("x"))
    assert history(log).all()["membership_intervals"] == history(of_one()).all()["membership_intervals"]


def test_records_without_times_make_rows_without_times() -> None:
    log = Log()
    log.write(None, *FIRST)
    log.write(None, *leaves("a"), epoch(3, None))
    found = history(log)
    assert found.told("rebalances", "outcome", "end_time", "duration_ms") == [
        ("completed", None, None), ("emptied", None, None)
    ]  # fmt: skip


def test_a_member_that_comes_back_within_one_operation_keeps_its_stays() -> None:
    log = of_one()
    log.write(100, *leaves("a"), about("a"), target("a", 0, 1), owns("a", 0, 0, 1, previous=0), owns("a", 2, 0, 1))
    found = history(log)
    assert found.told("ownership_intervals", "from_offset", "is_open") == [(4, True), (4, True)]
    assert found.told("membership_intervals", "from_offset", "is_open") == [(4, True)]


def test_an_epoch_written_again_sets_nothing_off() -> None:
    log = of_one()
    log.write(100, epoch(2, 8))
    log.write(200, about("b"), epoch(3, 8), target("b"), completed(3), owns("b", 3, previous=0))
    assert history(log).told("rebalances", "trigger", "start_time", to_generation=3) == [("member_joined", 200)]


def test_a_second_rebalance_has_a_start_and_a_cause_of_its_own() -> None:
    log = of_two()
    log.write(500, epoch(4, 8), completed(4), owns("a", 4, 0, previous=3))
    assert history(log).told("rebalances", "trigger", "start_time", to_generation=4) == [("metadata_changed", 500)]


def test_nothing_is_kept_of_members_that_went() -> None:
    log = of_one()
    log.write(100, *leaves("a"), epoch(3, None))
    assert "a" not in json.loads(history(log).states["g"])["now"]["members"]
    assert not any(key.endswith(" a") for key in json.loads(history(log).states["g"])["seen"])


def test_the_record_of_a_leave_for_a_while_proves_no_join() -> None:
    """A static instance that came back keeps previous epoch 0 when it goes away again."""
    log = Log(50)
    log.write(0, owns("a", -2, 0, previous=0))
    assert history(log, gaps=Gaps([0], [49])).told("membership_intervals", "is_from_exact") == [False]


def test_a_member_without_an_epoch_has_not_reached_the_target() -> None:
    log = of_one()
    log.write(100, about("b"))
    assert history(log).told("group_state_intervals", "state") == ["Stable", "Reconciling"]


def test_who_was_away_and_expired_does_not_count_as_away_any_more() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, about("b"), epoch(3), completed(3), owns("b", 3, previous=0))
    log.write(200, owns("a", -2, 0, 1, previous=2))
    log.write(300, *leaves("a"), epoch(4))
    log.write(400, target("b", 0, 1), completed(4))
    assert history(log).told("rebalances", "outcome", to_generation=4) == ["open"]


def test_a_group_is_not_empty_where_compaction_left_neither_members_nor_its_epoch() -> None:
    """The members left before offset 6, and the cleaner has removed all that they wrote but the target's epoch."""
    log = Log()
    log.skip(3)
    log.write(0, completed(5))
    log.skip(2)
    log.write(100, epoch(6))
    found = history(log, gaps=Gaps([0, 4], [2, 5]))
    assert found.told("group_state_intervals", "state", "num_members") == [(None, None), ("Empty", 0)]


def test_a_member_did_not_stop_reading_before_it_joined_however_long_its_session_is_assumed_to_be() -> None:
    """Away after 2 s and removed after 13: its session is shorter than the 45 s that are assumed."""
    log = Log()
    log.write(60_000, about("a", instance="one"), *FIRST[1:])
    log.write(62_000, owns("a", -2, 0, 1, previous=2))
    log.write(73_000, *leaves("a"), epoch(3))
    ends = named_rows(history(log).closed, "reading_ends")
    found = {(each["stopped_time"], each["first_time"], each["last_time"]) for each in ends if each["stopped_time"]}
    assert found == {(62_000_000, 60_000_000, 62_000_000)}


def test_a_member_is_away_since_its_first_record_of_it_and_until_it_is_back() -> None:
    log = Log()
    log.write(0, about("a", instance="one"), *FIRST[1:])
    log.write(100, owns("a", -2, 0, 1, previous=2))
    log.write(200, owns("a", -2, 0, previous=-2))
    assert history(log).told("membership_intervals", "away_since_time") == [100]
    log.write(300, owns("a", 2, 0, previous=-2))
    assert history(log).told("membership_intervals", "away_since_time") == [None]


def test_who_was_told_to_have_lost_a_partition_may_name_it_again() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    log.write(200, owns("a", 2, 0, 1, revoking=[]), epoch(3))
    found = history(log, gaps=Gaps([5], [5]))
    assert found.told("replay_anomalies", "kind") == ["older_rule", "two_owners"]
    for cut in (5, 7):
        assert history(log, gaps=Gaps([5], [5]), cut=cut).all() == found.all()


def test_a_group_whose_members_never_had_a_target_is_emptied_too_but_once() -> None:
    log = Log()
    log.write(0, about("a"), epoch(2), owns("a", 1, previous=0))
    log.write(100, *leaves("a"), epoch(3, None))
    log.write(200, epoch(4, None))
    assert history(log).told("rebalances", "outcome", "to_generation", "trigger") == [("emptied", 3, "group_emptied")]


def test_incomplete_targets_are_told_once() -> None:
    log = of_one()
    log.write(100, epoch(3), target("a", 0))
    log.write(200, owns("a", 2, 0, 1))
    log.write(300, owns("a", 2, 0))
    assert len(history(log).rows("replay_anomalies")) == 1


def test_a_state_behind_missing_records_may_have_begun_earlier() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, epoch(3))
    found = history(log, gaps=Gaps([5], [5]))
    assert found.told("group_state_intervals", "is_from_exact", "is_to_exact") == [(True, False), (False, True)]


def test_the_epoch_at_which_a_group_was_emptied_may_get_its_target_later() -> None:
    """Who joins by a pattern that is known changes no epoch."""
    log = of_one()
    log.write(100, *leaves("a"), epoch(3, None))
    log.write(200, about("b", topics=(), regex="o.*"), owns("b", 2, previous=0))
    log.write(300, target("b", 0, 1), completed(3), owns("b", 3, 0, 1, previous=2))
    found = history(log)
    assert found.told("rebalances", "from_generation", "to_generation", "assignment_offset", "members_joined")[1:] == [
        (2, 3, 8, []), (3, 3, 12, ["b"])
    ]  # fmt: skip
    assert found.told("generation_members", "member_id", assignment_offset=12) == ["b"]
    assert found.told("rebalances", "trigger", "start_time", assignment_offset=12) == [("member_joined", 200)]
