"""What triggers rebalances of consumer groups, and how each target assignment ends: the records that real brokers write
for it."""

import pytest

from tests.builders.groups.consumer_logs import STATES, of_one, of_two
from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    epoch,
    history,
    leaves,
    owns,
    pattern,
    target,
    waits,
)


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
    assert history(log).select("rebalances", "trigger") == ["group_created", expected]


def test_another_client_is_no_rebalance() -> None:
    log = of_one()
    log.write(100, about("a", rebalance_timeout_ms=1))
    replay = history(log)
    assert (len(replay.rows("rebalances")), len(replay.rows("group_state_intervals"))) == (1, 1)


def test_an_epoch_without_a_members_record_is_a_change_of_topics() -> None:
    log = of_one()
    log.write(100, epoch(3, 8), target("a", 0, 1, 2), completed(3), owns("a", 3, 0, 1, 2, previous=2))
    assert history(log).select("rebalances", "trigger") == ["group_created", "metadata_changed"]


def test_an_epoch_with_the_same_hash_and_no_members_record_has_no_cause_in_the_log() -> None:
    log = of_one()
    log.write(100, epoch(3, 7), completed(3), owns("a", 3, 0, 1, previous=2))
    assert history(log).select("rebalances", "trigger") == ["group_created", "unknown"]


def test_a_pattern_that_matches_other_topics_sets_off_a_rebalance() -> None:
    log = Log()
    log.write(0, about("a", topics=(), regex="o.*"), owns("a", 1, previous=0))
    log.write(50, pattern("o.*", "orders"), epoch(2))
    log.write(60, target("a", 0), completed(2), owns("a", 2, 0, previous=1))
    log.write(100, pattern("o.*", "orders", "other"), epoch(3, 9))
    log.write(200, completed(3), owns("a", 3, 0, previous=2))
    assert history(log).select("rebalances", "trigger", "start_time") == [
        ("group_created", 50),
        ("regex_resolved", 100),
    ]
    assert history(log).select("generation_members", "subscribed_topics") == [["orders"], ["orders", "other"]]


def test_a_pattern_resolved_again_to_the_same_topics_is_no_change() -> None:
    log = of_one()
    log.write(50, pattern("o.*", "orders"), epoch(3))
    log.write(60, completed(3), owns("a", 3, 0, 1, previous=2))
    log.write(100, pattern("o.*", "orders"))
    log.write(200, epoch(4, 8), completed(4), owns("a", 4, 0, 1, previous=3))
    assert history(log).select("rebalances", "trigger")[1:] == ["regex_resolved", "metadata_changed"]


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_pattern_resolved_to_the_same_topics_in_another_order_is_no_change(is_cut: bool) -> None:
    log = of_one()
    log.write(50, pattern("o.*", "orders", "other"), epoch(3))
    log.write(60, completed(3))
    cut = len(log.records) if is_cut else None
    log.write(100, pattern("o.*", "other", "orders"))
    log.write(200, epoch(4, 8), completed(4))
    triggers = history(log, cut=cut).select("rebalances", "trigger")
    assert triggers == ["group_created", "regex_resolved", "metadata_changed"]


def test_who_joins_by_pattern_alone_sets_off_the_rebalance_when_the_pattern_is_resolved() -> None:
    log = of_one()
    log.write(100, about("b", topics=(), regex="o.*"), owns("b", 2, previous=0))
    log.write(150, pattern("o.*", "orders"), epoch(3))
    log.write(160, target("a", 0), target("b", 1), completed(3))
    replay = history(log)
    assert replay.select("rebalances", "trigger", "members_joined", to_generation=3) == [("member_joined", ["b"])]


def test_a_member_may_stand_before_the_groups_first_epoch() -> None:
    log = Log()
    log.write(0, about("a", topics=(), regex="o.*"), owns("a", 1, previous=0))
    assert history(log).select("group_state_intervals", *STATES) == [("Stable", 1, 0, None)]
    assert history(log, first_epoch=0).select("group_state_intervals", "generation_or_epoch") == [0]


def test_a_group_epoch_may_wait_for_its_target_and_never_get_one() -> None:
    """4.3: group epochs 2, 3, 4 and target epochs 2, 4."""
    log = of_one()
    log.write(100, about("b"), epoch(3), owns("b", 2, previous=0))
    log.write(200, about("c"), epoch(4), owns("c", 2, previous=0))
    log.write(1_000, target("a", 0), target("b", 1), target("c"), completed(4), owns("c", 4, previous=2))
    replay = history(log)
    assert replay.select("group_state_intervals", *STATES) == [
        ("Stable", 2, 0, 100), ("Assigning", 3, 100, 200), ("Assigning", 4, 200, 1_000), ("Reconciling", 4, 1_000, None)
    ]  # fmt: skip
    (row,) = replay.rows("rebalances", to_generation=4)
    assert (row["from_generation"], row["start_time"], row["trigger"], row["members_joined"]) == (
        2, 100, "member_joined", ["b", "c"]
    )  # fmt: skip
    assert row["unpersisted_rounds"] is None
    assert replay.rows("replay_anomalies") == []


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
    replay = history(log)
    assert replay.select("rebalances", "to_generation", "outcome", "end_time", "num_unowned", "num_returned") == [
        (2, "completed", 0, 0, 0), (3, "superseded", 350, 1, 0), (4, "completed", 400, 0, 1)
    ]  # fmt: skip
    assert replay.select("partition_moves", "kind", "assignment_offset", "idle_ms", tp=("orders", 1)) == [
        ("assigned", 3, None), ("revoked", 9, None), ("returned", 16, 100)
    ]  # fmt: skip


def test_a_rebalance_is_open_until_every_member_has_reached_its_target() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(200, owns("a", 3, 0, previous=2))
    replay = history(log)
    (row,) = replay.rows("rebalances", is_open=True)
    assert (row["outcome"], row["end_time"], row["duration_ms"], row["num_unowned"]) == ("open", None, None, 1)
    assert replay.select("partition_moves", "kind", "is_open", tp=("orders", 1)) == [
        ("assigned", False),
        ("revoked", True),
    ]


def test_a_static_member_that_is_away_does_not_keep_a_rebalance_open() -> None:
    log = of_two()
    log.write(500, about("c", instance="one"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    log.write(600, owns("a", 4, 0, previous=3))
    log.write(700, owns("c", -2, previous=4))
    log.write(800, owns("b", 4, 1, previous=3))
    assert history(log).select("rebalances", "outcome", "end_time", to_generation=4) == [("completed", 800)]


def test_a_topic_unsubscribed_is_revoked_and_nobodys() -> None:
    log = of_one()
    log.write(100, about("a", topics=["payments"]), epoch(3), target("a"), completed(3), owns("a", 2, revoking=[0, 1]))
    log.write(200, owns("a", 3, previous=2))
    replay = history(log)
    assert (
        replay.select("partition_moves", "kind", "to_member_id", "is_open", assignment_offset=8)
        == [("revoked", None, False)] * 2
    )
    assert replay.select("rebalances", "num_unowned", to_generation=3) == [2]


def test_the_assignor_in_force_is_the_one_that_most_members_name() -> None:
    log = Log()
    log.write(0, about("a", assignor="range"), epoch(2), completed(2), owns("a", 2, previous=0))
    log.write(1, about("b", assignor="uniform"), about("c", assignor="uniform"))
    log.write(2, *leaves("b"), *leaves("c"), epoch(3))
    log.write(3, about("a"))
    assert history(log).select("group_state_intervals", "assignor") == [
        "range", "uniform", "range", None
    ]  # fmt: skip


def test_an_epoch_written_again_sets_nothing_off() -> None:
    log = of_one()
    log.write(100, epoch(2, 8))
    log.write(200, about("b"), epoch(3, 8), target("b"), completed(3), owns("b", 3, previous=0))
    assert history(log).select("rebalances", "trigger", "start_time", to_generation=3) == [("member_joined", 200)]


def test_a_second_rebalance_has_a_start_and_a_cause_of_its_own() -> None:
    log = of_two()
    log.write(500, epoch(4, 8), completed(4), owns("a", 4, 0, previous=3))
    assert history(log).select("rebalances", "trigger", "start_time", to_generation=4) == [("metadata_changed", 500)]
