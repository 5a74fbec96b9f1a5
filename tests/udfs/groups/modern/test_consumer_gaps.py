"""What is read from the log of a consumer group when records are missing or contradict each other."""

from tests.builders.groups.consumer_logs import FIRST, of_one, of_two
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
)
from udfs.log.gaps import Gaps


def test_after_missing_records_a_new_owner_shows_that_the_old_one_gave_up() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, about("b"), owns("b", 2, 1, previous=0))
    replay = history(log, gaps=Gaps([5], [5]))
    assert replay.select("ownership_intervals", "member_id", "ended_by", "is_to_exact", tp=("orders", 1)) == [
        ("a", "reassigned", False), ("b", None, True)
    ]  # fmt: skip
    assert replay.select("replay_anomalies", "kind", "severity") == [("older_rule", "info")]


def test_targets_without_the_record_that_completes_them_are_reported() -> None:
    log = of_one()
    log.write(100, epoch(3), target("a", 0))
    log.write(200, owns("a", 2, 0, 1))
    assert history(log).select("replay_anomalies", "kind", "evidence_first_offset") == [("target_write_incomplete", 6)]


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
    result = history(log, gaps=Gaps([5], [7])).select("replay_anomalies", "kind")
    assert "target_write_incomplete" not in result


def test_a_member_removed_with_its_assignment_is_reported() -> None:
    log = of_one()
    log.write(100, dead(5, "a"), epoch(3))
    assert history(log).select("replay_anomalies", "kind") == ["impossible_order"]


def test_a_group_deleted_with_members_is_reported() -> None:
    log = of_one()
    log.write(100, dead(3))
    replay = history(log)
    assert replay.select("replay_anomalies", "kind") == ["impossible_order"]
    assert replay.select("membership_intervals", "leave_kind") == ["group_deleted"]


def test_a_record_of_another_type_of_group_is_reported() -> None:
    log = of_one()
    log.write(100, about("s", record_type=10), epoch(2, record_type=11))
    replay = history(log)
    assert replay.select("replay_anomalies", "kind") == ["type_conflict"]
    assert replay.select("group_state_intervals", "group_type", "ended_by") == [
        ("consumer", "converted"), ("share", None)
    ]  # fmt: skip


def test_after_a_hole_nothing_is_claimed() -> None:
    log = of_two()
    log.write(500, about("c"), epoch(4), target("c"), completed(4), owns("c", 4, previous=0))
    whole = len(log.records)
    log.skip(100)
    log.write(9_000, owns("a", 7, 0, previous=6))
    replay = history(log, gaps=Gaps([19], [118]), hole=whole)
    for table in ("group_state_intervals", "membership_intervals", "ownership_intervals"):
        rows = replay.rows(table)
        assert {(row["to_time"], row["is_to_exact"]) for row in rows if row["ended_by"] == "coverage_hole"} == {
            (500, False)
        }
        assert [row["from_offset"] for row in rows if row["is_open"]] == [119]
        assert not any(row["is_from_exact"] for row in rows if row["is_open"])
    (row,) = replay.rows("rebalances", to_generation=4)
    assert (row["outcome"], row["is_open"], row["end_time"]) == ("open", False, None)
    # The others have nothing to write as long as nothing changes.
    (state,) = replay.rows("group_state_intervals", is_open=True)
    assert (state["state"], state["generation_or_epoch"]) == ("Stable", None)
    assert (state["num_members"], state["confidence"]) == (None, "possible")


def test_whoever_is_left_after_a_hole_is_not_known_until_the_group_is_a_new_one() -> None:
    log = of_two()
    whole, last = len(log.records), log.records[-1].offset
    log.skip(100)
    log.write(9_000, *leaves("a"), epoch(8), completed(8))
    log.write(9_100, dead(6), dead(3))
    log.write(9_200, about("c"), epoch(2), target("c", 0), completed(2), owns("c", 2, 0, previous=0))
    replay = history(log, gaps=Gaps([last + 1], [last + 100]), hole=whole)
    assert replay.select("group_state_intervals", "state", "num_members", "confidence")[-2:] == [
        (None, None, "possible"), ("Stable", 1, "certain"),
    ]  # fmt: skip


def test_a_group_met_in_the_middle_has_no_epochs_until_they_are_written() -> None:
    log = Log(50)
    log.write(0, owns("a", 7, 0, previous=6))
    log.write(100, completed(8))
    log.write(200, epoch(9))
    replay = history(log, gaps=Gaps([0], [49]))
    assert replay.select("group_state_intervals", "state", "generation_or_epoch", "confidence") == [
        ("Stable", None, "likely"), ("Reconciling", None, "likely"), ("Assigning", 9, "certain")
    ]  # fmt: skip
    assert replay.select("membership_intervals", "client_id", "is_from_exact") == [(None, False)]
    assert replay.select("rebalances", "trigger", "confidence", "is_start_exact") == [("unknown", "possible", False)]


def test_the_first_epoch_of_all_proves_a_new_group_whatever_is_missing() -> None:
    log = Log(50)
    log.write(0, about("a"), epoch(2), owns("a", 1, previous=0))
    log.write(100, target("a", 0), completed(2), owns("a", 2, 0, previous=1))
    replay = history(log, gaps=Gaps([0], [49]))
    assert replay.select("group_state_intervals", "state") == ["Assigning", "Stable"]
    assert replay.select("rebalances", "trigger") == ["group_created"]
    assert replay.select("membership_intervals", "is_from_exact") == [True]


def test_who_goes_where_records_are_missing_went_for_reasons_unknown() -> None:
    log = of_one()
    log.skip(2)
    log.write(100, *leaves("a"), epoch(3))
    replay = history(log, gaps=Gaps([5], [6]))
    assert replay.select("membership_intervals", "leave_kind", "is_to_exact") == [("unknown", False)]


def test_tombstones_of_what_is_not_there_are_nothing() -> None:
    log = Log()
    log.write(0, *leaves("a"), dead(6), dead(16, "a.*"), dead(4), dead(3))
    replay = history(log)
    assert replay.all() == history(Log()).all()


def test_leftover_tombstones_of_members_nobody_knows_are_nothing() -> None:
    log = of_one()
    log.write(100, *leaves("x"))
    assert history(log).all()["membership_intervals"] == history(of_one()).all()["membership_intervals"]


def test_records_without_times_make_rows_without_times() -> None:
    log = Log()
    log.write(None, *FIRST)
    log.write(None, *leaves("a"), epoch(3, None))
    replay = history(log)
    assert replay.select("rebalances", "outcome", "end_time", "duration_ms") == [
        ("completed", None, None), ("emptied", None, None)
    ]  # fmt: skip


def test_the_record_of_a_leave_for_a_while_proves_no_join() -> None:
    """A static instance that came back keeps previous epoch 0 when it goes away again."""
    log = Log(50)
    log.write(0, owns("a", -2, 0, previous=0))
    assert history(log, gaps=Gaps([0], [49])).select("membership_intervals", "is_from_exact") == [False]


def test_a_group_is_not_empty_where_compaction_left_neither_members_nor_its_epoch() -> None:
    """The members left before offset 6, and the cleaner has removed all that they wrote but the target's epoch."""
    log = Log()
    log.skip(3)
    log.write(0, completed(5))
    log.skip(2)
    log.write(100, epoch(6))
    replay = history(log, gaps=Gaps([0, 4], [2, 5]))
    assert replay.select("group_state_intervals", "state", "num_members") == [(None, None), ("Empty", 0)]


def test_a_member_that_joins_without_an_epoch_shows_that_the_group_was_not_empty() -> None:
    """It replaces a static member, of which the cleaner left only the tombstones: other members join in a new epoch."""
    log = Log()
    log.skip(3)
    log.write(50, completed(3))
    log.write(100, epoch(4))
    log.write(200, *leaves("a"), about("b", instance="ib"), target("b", 0), owns("b", 3, 0, previous=0))
    log.write(300, epoch(5), about("c"))
    whole = history(log, gaps=Gaps([0], [2]))
    states = [(None, None), (None, None), ("Assigning", 1), ("Assigning", 2)]
    assert whole.select("group_state_intervals", "state", "num_members") == states
    assert history(log, gaps=Gaps([0], [2]), cut=2).select("group_state_intervals", "state", "num_members") == states


def test_a_group_of_which_no_record_is_missing_was_empty() -> None:
    log = Log()
    log.write(100, epoch(2))
    log.write(200, about("b"), target("b", 0), owns("b", 2, 0, previous=0))
    first, *_ = history(log).select("group_state_intervals", "state", "num_members")
    assert first == ("Empty", 0)


def test_incomplete_targets_are_reported_once() -> None:
    log = of_one()
    log.write(100, epoch(3), target("a", 0))
    log.write(200, owns("a", 2, 0, 1))
    log.write(300, owns("a", 2, 0))
    assert len(history(log).rows("replay_anomalies")) == 1


def test_a_state_after_missing_records_may_have_begun_earlier() -> None:
    log = of_one()
    log.skip(1)
    log.write(100, epoch(3))
    replay = history(log, gaps=Gaps([5], [5]))
    assert replay.select("group_state_intervals", "is_from_exact", "is_to_exact") == [(True, False), (False, True)]
