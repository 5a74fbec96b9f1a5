"""Progress of groups that change from eager rebalancing to a cooperative assignor."""

from typing import Any

import pytest

from tests.builders.groups.classic_log import member
from tests.builders.groups.upgrade_log import (
    COOPERATIVE,
    DAY,
    HOUR,
    STICKY,
    TO_CONSUMER,
    Log,
    ids,
    micros,
    turning,
    upgrades_of,
    value,
)
from udfs.audit import migrations

BACK_WITHIN = migrations.BACK_WITHIN // 1000


def test_the_last_entry_of_a_member_counts_as_coordinators_load_it() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0", version=0), member("b", ""), member("a", "t0", version=3)]))
    result = upgrades_of(log)[TO_CONSUMER]
    assert [each.member_id for each in result.members_remaining] == ["a", "b"]
    assert result.blockers == ()


# -- eager to cooperative


def test_members_that_were_there_before_the_group_turned_are_left() -> None:
    result = upgrades_of(turning())[COOPERATIVE]
    assert (result.phase, ids(result.members_done), ids(result.members_remaining)) == ("in_progress", {"new"}, {"old"})
    assert (result.started_time, result.finished_time) == (micros(2000), None)
    assert (result.evidence_first_offset, result.evidence_last_offset, result.confidence) == (2, 2, "likely")


def test_a_member_that_had_nothing_before_the_group_turned_is_left_too() -> None:
    log = Log()
    log.write(0, value(1, [member("busy", "t0"), member("idle", "")]))
    log.write(1, value(2, [member("new", "t0"), member("idle", "", generation=1)], STICKY))
    assert ids(upgrades_of(log)[COOPERATIVE].members_remaining) == {"idle"}


def test_a_member_that_claims_what_it_owns_is_done() -> None:
    """The same process cannot change, but a static one keeps its id where the coordinator gives it back."""
    log = turning()
    log.write(3000, value(4, [member("old", "t0 t1", "t0 t1", generation=3), member("new", "t2 t3", "t2")], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, ids(result.members_done), result.members_remaining) == ("finished", {"old", "new"}, ())
    assert (result.started_time, result.finished_time, result.confidence) == (micros(2000), micros(3000), "certain")


def gone_last() -> Log:
    """Of two members, the one that was left leaves."""
    log = turning()
    log.write(3000, value(4, [member("new", "t0 t1 t2 t3", "t2 t3", generation=3)], STICKY))
    return log


def of_new_members(generation: int, *others: str) -> tuple[str, dict[str, Any]]:
    """A value with members that joined as the group had turned."""
    newcomers = [member(each, "") for each in others]
    return value(generation, [member("new", "t0 t1", "t0 t1", generation=generation - 1), *newcomers], STICKY)


def test_it_is_finished_once_the_last_of_the_old_members_is_back() -> None:
    log = gone_last()
    log.write(4000, of_new_members(5, "third"))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, ids(result.members_done), result.finished_time) == (
        "finished",
        {"new", "third"},
        micros(4000),
    )
    # What comes after the end is no part of it: another restart, and one more member.
    log.write(5000, of_new_members(6))
    log.write(6000, of_new_members(7, "fourth"))
    log.write(7000, of_new_members(8, "fourth", "fifth"))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(4000)


@pytest.mark.parametrize(("away_ms", "end"), [(None, 3000), (BACK_WITHIN, 3000 + BACK_WITHIN), (BACK_WITHIN + 1, 3000)])
def test_a_member_that_is_not_soon_back_has_gone_for_good(away_ms: int | None, end: int) -> None:
    log = gone_last()
    if away_ms is not None:
        log.write(3000 + away_ms, of_new_members(5, "third"))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.members_remaining, result.finished_time) == ("finished", (), micros(end))
    # It may come back yet; and no record shows whether a member that has just come would claim.
    assert result.confidence == "likely"


def test_a_member_of_unknown_time_is_not_known_to_be_back() -> None:
    log = gone_last()
    log.write(None, of_new_members(5, "third"))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(3000)


def test_a_member_whose_successor_came_before_it_left_is_not_awaited() -> None:
    log = turning()
    three = [member("old", "t0", generation=3), member("new", "t1", "t1", generation=3), member("next", "t2")]
    log.write(2500, value(4, three, STICKY))
    log.write(3000, of_new_members(5, "next"))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.finished_time) == ("finished", micros(3000))


def test_the_last_of_several_that_are_away_counts() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0"), member("b", "t1"), member("c", "t2")]))
    log.write(1000, value(2, [member("a", "t0 t1 t2", generation=1)]))
    log.write(2000, value(3, [member("a", "t0", generation=2), member("new", "t1 t2")], STICKY))
    for time, others in ((3000, ()), (4000, ("b2",)), (5000, ("b2", "a2"))):
        log.write(time, of_new_members(time // 1000 + 1, *others))
        assert upgrades_of(log)[COOPERATIVE].finished_time == micros(time)
    log.write(6000, of_new_members(7, "b2", "a2", "more"))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(5000)


def test_a_member_that_comes_gives_those_that_are_away_no_more_time() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0"), member("b", "t1"), member("c", "t2")]))
    log.write(1000, value(2, [member("new", "t0 t1 t2")], STICKY))
    log.write(1000 + BACK_WITHIN, of_new_members(3, "second"))
    log.write(1001 + BACK_WITHIN, of_new_members(4, "second", "third"))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(1000 + BACK_WITHIN)


def test_a_group_that_was_stopped_meanwhile_has_turned_when_all_of_it_is_back() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0"), member("b", "t1")]))
    log.write(1000, value(2, []))
    log.write(2000, value(3, [member("new", "t0 t1")], STICKY))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(2000)
    log.write(3000, of_new_members(4, "other"))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.started_time, result.finished_time) == (micros(2000), micros(3000))


def test_a_member_of_a_generation_that_nobody_was_assigned_shows_whether_it_gives_up_what_it_had() -> None:
    """Two members start anew as the group turns, and only one of them has left the old assignor out."""
    log = Log()
    log.write(0, value(1, [member("a", "t0"), member("b", "t1")]))
    log.write(1000, value(2, [member("a2", "t0"), member("b2", "t1")], STICKY))
    assert upgrades_of(log)[COOPERATIVE].phase == "finished"
    # Generation 3 left no record.
    log.write(2000, value(4, [member("a2", "t0", "t0", generation=3), member("b2", "t1", generation=3)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, ids(result.members_remaining)) == ("in_progress", {"b2"})
    log.write(3000, value(5, [member("a2", "t0 t1", "t0", generation=4)], STICKY))
    log.write(4000, value(6, [member("a2", "t0", "t0 t1", generation=5), member("b3", "")], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.finished_time) == ("finished", micros(4000))


def test_a_static_member_that_came_back_as_the_group_turned_is_done() -> None:
    log = Log()
    log.write(0, value(1, [member("a-1", "t0", instance="a"), member("b-1", "t1", instance="b")]))
    log.write(1, value(2, [member("a-2", "t0", instance="a"), member("b-1", "t1", instance="b", generation=1)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (ids(result.members_done), ids(result.members_remaining)) == ({"a-2"}, {"b-1"})
    assert result.members_remaining[0].group_instance_id == "b"


def test_a_newcomer_that_gives_everything_up_is_left() -> None:
    """It offers an eager assignor too, whatever the others do."""
    log = turning()
    log.write(3000, value(4, [member("new", "t0 t1", "t2 t3", generation=3), member("eager", "t2 t3")], STICKY))
    assert upgrades_of(log)[COOPERATIVE].phase == "finished"
    log.write(4000, value(5, [member("new", "t0 t1", "t0", generation=4), member("eager", "t2", generation=4)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, ids(result.members_remaining), result.finished_time) == ("in_progress", {"eager"}, None)


@pytest.mark.parametrize("generation", [-1, 2])
def test_a_member_that_was_reset_or_missed_a_round_says_nothing(generation: int) -> None:
    log = turning()
    log.write(3000, value(4, [member("new", "t0 t1 t2 t3", "t2 t3", generation=3)], STICKY))
    log.write(4000, value(5, [member("new", "t0 t1 t2 t3", generation=generation)], STICKY))
    assert upgrades_of(log)[COOPERATIVE].phase == "finished"


def test_a_member_before_generations_were_recorded_is_left_when_it_claims_nothing() -> None:
    log = turning()
    log.write(3000, value(4, [member("new", "t0 t1 t2 t3", "t2 t3", generation=3)], STICKY))
    log.write(4000, value(5, [member("new", "t0 t1 t2 t3", generation=None, version=1)], STICKY))
    assert ids(upgrades_of(log)[COOPERATIVE].members_remaining) == {"new"}


def test_a_group_of_cooperative_members_from_the_start_is_on_no_way() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")], STICKY))
    log.write(1, value(2, [member("a", "t0", "t0", generation=1), member("b", "")], STICKY))
    assert COOPERATIVE not in upgrades_of(log)


def test_an_eager_member_of_a_group_that_never_turned_shows_a_way_half_gone() -> None:
    """Such as in a log of which the cleaner has left the end."""
    log = Log()
    log.write(0, value(7, [member("a", "t0"), member("b", "t1")], STICKY))
    log.write(1, value(8, [member("a", "t0", "t0", generation=7), member("b", "t1", generation=7)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, ids(result.members_done), ids(result.members_remaining)) == ("in_progress", {"a"}, {"b"})
    assert (result.started_time, result.confidence) == (micros(1), "likely")
    log.write(2, value(9, [member("a", "t0", "t0", generation=8), member("b", "t1", "t1", generation=8)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.finished_time, result.confidence) == ("finished", micros(2), "likely")


def test_a_subscription_that_cannot_claim_keeps_its_member_from_changing() -> None:
    log = turning()
    log.write(3000, value(4, [member("new", "t0", "t2", generation=3), member("python", "t1", version=0)], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.readiness, [(each.kind, each.member_id) for each in result.blockers]) == (
        "blocked",
        [("old_client", "python")],
    )


def test_a_group_that_turns_back_half_way_has_not_finished_and_does_not_stand_still() -> None:
    log = turning()
    log.write(3000, value(4, [member("old", "t0 t1", generation=3), member("new", "t2 t3", generation=3)]))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.members_done, ids(result.members_remaining)) == ("taken_back", (), {"old", "new"})
    assert [(each.kind, each.detail) for each in result.blockers] == [
        ("turned_back", "the group went back to its former protocol; the record at offset 3 shows it")
    ]
    assert result.readiness == "unknown"
    # And turns once more: a way of its own.
    log.write(4000, value(5, [member("newer", "t0 t1 t2 t3")], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.started_time, result.blockers) == ("finished", micros(4000), ())


def test_of_a_group_that_turned_back_nobody_has_changed_whoever_comes() -> None:
    log = turning()
    log.write(3000, value(4, [member("old", "t0 t1", generation=3), member("other", "t2 t3")]))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.members_done, ids(result.members_remaining)) == ((), {"old", "other"})


def test_a_group_that_turns_back_after_it_had_finished_has_finished() -> None:
    log = gone_last()
    log.write(4000, of_new_members(5, "third"))
    for time in (5000, 5000 + 2 * DAY):
        log.write(time, value(6 + time // DAY, [member("range-again", "t0 t1 t2 t3")]))
        result = upgrades_of(log)[COOPERATIVE]
        assert (result.phase, result.finished_time, result.blockers) == ("finished", micros(4000), ())
        assert (ids(result.members_done), result.members_remaining) == ({"new", "third"}, ())
    # And turns once more: a way of its own.
    log.write(6000 + 2 * DAY, value(9, [member("newer", "t0 t1 t2 t3")], STICKY))
    assert upgrades_of(log)[COOPERATIVE].started_time == micros(6000 + 2 * DAY)


@pytest.mark.parametrize(
    ("rounds", "time", "phase"),
    [(3, DAY, "stuck"), (2, DAY, "in_progress"), (3, DAY - 1, "in_progress"), (30, HOUR, "in_progress")],
)
def test_it_is_stuck_when_rounds_and_a_day_go_by_and_nobody_changes(rounds: int, time: int, phase: str) -> None:
    log = turning()
    for number in range(rounds):
        members = [member("old", "t0", generation=3 + number), member("new", "t1", "t1", generation=3 + number)]
        log.write(2000 + (time if number == rounds - 1 else 1), value(4 + number, members, STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, [each.kind for each in result.blockers]) == (phase, ["no_progress"] * (phase == "stuck"))


def test_rounds_are_counted_anew_when_a_member_changes() -> None:
    log = Log()
    one, two, new = member("one", "t0", generation=-1), member("two", "t1", generation=-1), member("new", "t2", "t2")
    log.write(0, value(1, [one, two]))
    for generation in (2, 3, 4, 5):
        log.write(1, value(generation, [one, two, new], STICKY))
    log.write(2, value(6, [one, new], STICKY))
    log.write(2 + DAY, value(7, [one, new], STICKY))
    assert upgrades_of(log)[COOPERATIVE].phase == "in_progress"


def test_a_static_member_that_comes_back_is_no_round() -> None:
    log = turning()
    for number in range(3):
        members = [member("old", "t0", generation=2), member(f"new-{number}", "t1", instance="n")]
        log.write(2000 + number * DAY, value(3, members, STICKY))
    assert upgrades_of(log)[COOPERATIVE].phase == "in_progress"


def test_groups_of_other_protocol_types_are_on_no_way_whatever_their_assignors_are_called() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")], protocol_type="house"))
    log.write(1, value(2, [member("a", "t0", generation=1)], STICKY, protocol_type="house"))
    assert COOPERATIVE not in upgrades_of(log)


def test_a_group_that_was_empty_meanwhile_turns_at_once() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")]))
    log.write(1, value(2, []))
    log.write(2, value(3, [member("b", "t0")], STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, result.started_time, result.finished_time) == ("finished", micros(2), micros(2))


def test_an_unknown_assignor_may_have_been_cooperative_all_along() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")], "house-rules"))
    log.write(1, value(2, [member("a", "t0", "t0", generation=1)], STICKY))
    assert COOPERATIVE not in upgrades_of(log)
