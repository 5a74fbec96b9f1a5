"""What is read from records of share and streams groups, with the records that a 4.3 broker writes."""

from tests.builders.groups.modern_log import (
    PAYMENTS,
    History,
    Log,
    about,
    completed,
    dead,
    epoch,
    history,
    leaves,
    owns,
    target,
    tasks,
    topics_known,
    topology,
)
from udfs.groups.readers.recorded_lists import Tasks
from udfs.log.gaps import Gaps

STATES = ("state", "generation_or_epoch", "from_time", "to_time")
SHARE_LEAVING = (14, 13, 10)
STREAMS_LEAVING = (22, 21, 19)


def shared() -> Log:
    """The first topic must be initialized before it is assigned."""
    log = Log()
    log.write(0, about("a", record_type=10), epoch(2, record_type=11), target("a", record_type=13),
              completed(2, 12), owns("a", 2, previous=0, record_type=14), topics_known())  # fmt: skip
    log.write(100, topics_known("orders"))
    log.write(200, epoch(3, record_type=11), target("a", 0, 1, record_type=13), completed(3, 12),
              owns("a", 3, 0, 1, previous=2, record_type=14))  # fmt: skip
    return log


def test_a_topic_that_is_initialized_sets_a_share_groups_rebalance_off() -> None:
    replay = history(shared())
    assert replay.select("rebalances", "trigger", "to_generation", "assignment_offset", "outcome") == [
        ("group_created", 2, 3, "completed"), ("metadata_changed", 3, 9, "completed")
    ]  # fmt: skip


def test_a_share_group_with_members_is_stable_whatever_its_epochs() -> None:
    log = shared()
    log.write(300, about("b", record_type=10), epoch(4, record_type=11), owns("b", 3, previous=0, record_type=14))
    replay = history(log)
    assert replay.select("group_state_intervals", *STATES) == [
        ("Stable", 2, 0, 200), ("Stable", 3, 200, 300), ("Stable", 4, 300, None)
    ]  # fmt: skip
    assert replay.select("group_state_intervals", "group_type")[0] == "share"


def test_members_of_a_share_group_may_own_one_partition_together() -> None:
    log = shared()
    log.write(300, about("b", record_type=10), epoch(4, record_type=11), target("b", 0, record_type=13),
              completed(4, 12), owns("b", 4, 0, previous=0, record_type=14))  # fmt: skip
    log.write(400, owns("a", 4, 1, previous=3, record_type=14))
    replay = history(log)
    assert replay.select("ownership_intervals", "member_id", "from_time", "to_time", tp=("orders", 0)) == [
        ("a", 200, 400), ("b", 300, None)
    ]  # fmt: skip
    assert replay.rows("replay_anomalies") == []
    # As b has it, nothing stands still.
    assert replay.select("rebalances", "num_unowned", "stopped_partition_ms", to_generation=4) == [(0, 0)]


def test_a_share_group_that_lost_its_members_is_empty() -> None:
    log = shared()
    log.write(500, *leaves("a", types=SHARE_LEAVING), epoch(4, 0, record_type=11))
    log.write(600, topics_known())
    log.write(700, dead(12), dead(15), dead(11))
    replay = history(log)
    assert replay.select("group_state_intervals", "state", "from_time", "ended_by")[-1] == ("Empty", 500, "deleted")
    assert replay.select("rebalances", "outcome")[-1] == "emptied"
    assert replay.rows("replay_anomalies") == []


def streams() -> Log:
    log = Log()
    log.write(0, about("a", topics=None, record_type=19, topology_epoch=0),
              topology(0, s0=["orders"], s1=["repartition"]), epoch(2, record_type=17),
              tasks(22, "a", {}, 1, 0, "STABLE"))  # fmt: skip
    log.write(100, tasks(21, "a", {}), completed(2, 20), tasks(22, "a", {}, 2, 1, "STABLE"))
    log.write(200, epoch(3, 9, record_type=17, topology=0))
    both = {"active": [("0", 0), ("1", 0)], "standby": [("1", 1)]}
    log.write(300, tasks(21, "a", both), completed(3, 20), tasks(22, "a", both, 3, 2, "STABLE"))
    return log


def test_a_streams_group_is_not_ready_until_its_topology_is_valid() -> None:
    assert history(streams()).select("group_state_intervals", *STATES) == [
        ("NotReady", 2, 0, 200), ("Assigning", 3, 200, 300), ("Stable", 3, 300, None)
    ]  # fmt: skip


def test_a_streams_group_of_4_1_does_not_say_that_its_topology_is_in_order() -> None:
    log = Log()
    some = {"active": [("0", 0)]}
    log.write(0, about("a", topics=None, record_type=19), topology(0, s0=["orders"]), epoch(1, record_type=17),
              tasks(21, "a", some), completed(1, 20), tasks(22, "a", some, 1, 0, "STABLE"))  # fmt: skip
    assert history(log, first_epoch=0).select("group_state_intervals", "state") == ["Stable"]


def test_tasks_are_the_partitions_of_their_subtopologys_topics() -> None:
    replay = history(streams())
    assert replay.select("ownership_intervals", "tp", "role", "subtopology_id", "member_id") == [
        (("orders", 0), "active", "0", "a"),
        (("repartition", 0), "active", "1", "a"),
        (("repartition", 1), "standby", "1", "a"),
    ]
    (members,) = replay.rows("generation_members", generation_or_epoch=3)
    assert (members["assigned"], members["subscribed_topics"]) == ([0, 0], None)
    assert replay.select("rebalances", "num_partitions", "trigger") == [(0, "group_created"), (2, "metadata_changed")]


def test_a_streams_groups_tasks_go_through_revoking_too() -> None:
    log = streams()
    log.write(400, about("b", topics=None, record_type=19), epoch(4, 9, record_type=17, topology=0),
              tasks(21, "b", {"active": [("0", 0)]}), tasks(21, "a", {"active": [("1", 0)]}), completed(4, 20),
              tasks(22, "b", {}, 4, 0, "UNRELEASED_TASKS"))  # fmt: skip
    record_type, member, current = tasks(22, "a", {"active": [("1", 0)]}, 3, 3, "UNREVOKED_TASKS")
    pending = {"active": Tasks([("0", 0)]), "standby": Tasks(), "warmup": Tasks()}
    log.write(500, (record_type, member, current._replace(pending=pending)))
    log.write(600, tasks(22, "a", {"active": [("1", 0)]}, 4, 3, "STABLE"))
    log.write(700, tasks(22, "b", {"active": [("0", 0)], "standby": [("1", 1)]}, 4, 4, "STABLE"))
    replay = history(log)
    assert replay.select("ownership_intervals", "member_id", "phase", "from_time", "to_time", tp=("orders", 0)) == [
        ("a", "assigned", 300, 500), ("a", "revoking", 500, 600), ("b", "assigned", 700, None)
    ]  # fmt: skip
    assert replay.select("partition_moves", "kind", "role", "idle_ms", tp=("orders", 0))[-1] == ("moved", "active", 100)
    # The standby task stopped nothing.
    assert replay.select("rebalances", "num_moved", "num_unowned", "stopped_partition_ms")[-1] == (1, 0, 100)


def test_another_topology_changes_what_tasks_stand_for() -> None:
    log = streams()
    log.write(400, topology(1, s0=["payments"], s1=["repartition"]))
    replay = history(log)
    assert replay.select("ownership_intervals", "tp", "to_time", role="active") == [
        (("orders", 0), 400), (("repartition", 0), None), (("payments", 0), None)
    ]  # fmt: skip
    assert replay.select("group_state_intervals", "state")[-1] == "NotReady"


def test_a_deleted_streams_groups_topology_goes_last() -> None:
    log = streams()
    log.write(500, *leaves("a", types=STREAMS_LEAVING), epoch(4, 9, record_type=17, topology=0))
    log.write(600, dead(20), dead(17), dead(23))
    replay = history(log)
    assert replay.select("group_state_intervals", "state", "ended_by")[-1] == ("Empty", "deleted")
    assert not any(replay.open.of.values())
    assert replay.rows("replay_anomalies") == []


def test_a_second_topic_of_a_share_group_is_owned_beside_the_first() -> None:
    log = shared()
    log.write(300, owns("a", 3, 0, record_type=14, topic=PAYMENTS))
    assert history(log).select("ownership_intervals", "tp", "to_time") == [
        (("orders", 0), 300), (("orders", 1), 300), (("payments", 0), None)
    ]  # fmt: skip


def test_a_topic_written_again_as_initialized_sets_nothing_off() -> None:
    log = shared()
    log.write(300, topics_known("orders"))
    log.write(400, epoch(4, record_type=11), completed(4, 12))
    assert history(log).select("rebalances", "trigger")[-1] == "unknown"


def test_standby_tasks_may_be_kept_by_several_members() -> None:
    log = streams()
    log.write(400, about("b", topics=None, record_type=19), tasks(22, "b", {"standby": [("1", 1)]}, 3, 0, "STABLE"))
    replay = history(log)
    assert len(replay.rows("ownership_intervals", role="standby", is_open=True)) == 2
    assert replay.rows("replay_anomalies") == []


def test_a_4_1_streams_group_goes_on_in_the_next_run_as_it_was() -> None:
    log = Log()
    some = {"active": [("0", 0)]}
    log.write(0, about("a", topics=None, record_type=19), topology(0, s0=["orders"]), epoch(1, record_type=17),
              tasks(21, "a", some), completed(1, 20), tasks(22, "a", some, 1, 0, "STABLE"))  # fmt: skip
    log.write(100, epoch(2, 8, record_type=17))
    assert history(log, cut=6).all() == history(log).all()


def repeated_target(gaps: Gaps | None = None) -> History:
    """A share group whose second target has the epoch of the first, and gives the partition again that a gave up."""
    log = Log()
    log.write(0, about("a", record_type=10), epoch(2, record_type=11), target("a", 0, record_type=13),
              completed(2, 12), owns("a", 2, 0, previous=0, record_type=14))  # fmt: skip
    log.write(100, owns("a", 2, record_type=14))
    if gaps is not None:
        log.skip(gaps.lasts[-1] + 1 - log.offset)
    log.write(200, target("a", 0, record_type=13), completed(2, 12))
    log.write(300, owns("a", 2, 0, record_type=14))
    return history(log, gaps=gaps)


def test_a_target_with_the_epoch_of_the_one_before_is_reported_and_is_one_of_its_own() -> None:
    replay = repeated_target()
    assert replay.select(
        "replay_anomalies", "kind", "severity", "record_offset", "evidence_first_offset", "message"
    ) == [
        ("impossible_order", "warning", 7, 3, "target epoch 2 is completed again: each target has an epoch of its own")
    ]
    assert replay.select("rebalances", "assignment_offset", "from_generation", "to_generation", "trigger") == [
        (3, None, 2, "group_created"), (7, 2, 2, "unknown")
    ]  # fmt: skip
    moves = replay.select("partition_moves", "assignment_offset", "kind", "to_member_id")
    assert moves == [(3, "assigned", "a"), (7, "revoked", None), (7, "assigned", "a")]
    assert replay.select("generation_members", "assignment_offset", "member_id") == [(3, "a"), (7, "a")]


def test_after_missing_records_the_epoch_may_be_that_of_another_group_of_the_name() -> None:
    replay = repeated_target(Gaps([6], [9]))
    assert replay.select("replay_anomalies", "kind") == []
    assert replay.select("rebalances", "assignment_offset") == [3, 11]


def test_of_targets_with_one_epoch_in_one_operation_the_last_counts() -> None:
    log = shared()
    log.write(300, epoch(4, record_type=11), target("a", 0, record_type=13), completed(4, 12), completed(4, 12))
    replay = history(log)
    assert replay.select("replay_anomalies", "kind", "evidence_first_offset") == [("impossible_order", log.offset - 2)]
    assert replay.select("rebalances", "assignment_offset", to_generation=4) == [log.offset - 1]
