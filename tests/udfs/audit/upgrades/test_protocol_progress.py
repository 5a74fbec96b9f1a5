"""Progress of groups that change to the consumer protocol, or back to the classic one."""

import pytest

from tests.builders.groups.classic_log import member
from tests.builders.groups.upgrade_log import (
    COOPERATIVE,
    DAY,
    STICKY,
    TO_CLASSIC,
    TO_CONSUMER,
    Log,
    classic,
    epoch,
    gone,
    ids,
    left,
    micros,
    native,
    run,
    turning,
    upgrades_of,
    value,
)
from udfs.audit import migrations

BACK_WITHIN = migrations.BACK_WITHIN // 1000

# -- between protocols


def upgraded() -> Log:
    """A classic group of two, and a native member that turns it."""
    log = Log()
    log.write(0, value(5, [member("a", "t0"), member("b", "t1")]))
    log.write(1000, gone(), classic("a"), classic("b"), epoch(5), native("n"), epoch(6))
    return log


def test_classic_members_of_a_group_that_was_converted_are_left() -> None:
    upgrades = upgrades_of(upgraded())
    assert set(upgrades) == {TO_CONSUMER}
    row = upgrades[TO_CONSUMER]
    assert (row.group_type, row.phase, row.readiness, row.confidence) == ("consumer", "in_progress", "ready", "certain")
    assert (ids(row.members_done), ids(row.members_remaining)) == ({"n"}, {"a", "b"})
    assert (row.started_time, row.finished_time) == (micros(1000), None)
    assert (row.evidence_first_offset, row.evidence_last_offset) == (1, 6)
    assert row.members_done[0].client_id == "client-n"


def test_the_conversion_is_finished_when_the_last_classic_member_has_gone() -> None:
    log = upgraded()
    log.write(2000, left("a"), epoch(7))
    log.write(3000, native("n2"), epoch(8))
    assert ids(upgrades_of(log)[TO_CONSUMER].members_remaining) == {"b"}
    log.write(4000, left("b"), epoch(9))
    log.write(5000, native("n3"), epoch(10))
    upgrades = upgrades_of(log)
    assert set(upgrades) == {TO_CONSUMER}
    row = upgrades[TO_CONSUMER]
    assert (row.phase, ids(row.members_done), row.members_remaining) == ("finished", {"n", "n2", "n3"}, ())
    assert (row.started_time, row.finished_time) == (micros(1000), micros(4000))


def test_a_member_that_comes_back_in_the_new_protocol_has_changed() -> None:
    """A static one takes over the member record of its instance under its own id."""
    log = upgraded()
    log.write(2000, left("a"), native("a-native", group_instance_id="a"), native("b"), epoch(7))
    assert upgrades_of(log)[TO_CONSUMER].phase == "finished"


@pytest.mark.parametrize(
    ("rounds", "is_progress", "phase"), [(3, True, "in_progress"), (3, False, "stuck"), (2, False, "in_progress")]
)
def test_a_conversion_is_stuck_when_epochs_and_a_day_go_by_and_nobody_changes(
    rounds: int, is_progress: bool, phase: str
) -> None:
    log = upgraded()
    for number in range(rounds - 1):
        log.write(2000 + number, native(f"n{number}"), epoch(7 + number))
    log.write(1000 + DAY, *([left("b")] if is_progress else []), epoch(10))
    assert upgrades_of(log)[TO_CONSUMER].phase == phase


@pytest.mark.parametrize(("member_id", "phase"), [("b", "in_progress"), ("a", "stuck")])
def test_a_way_back_is_stuck_when_no_classic_member_comes(member_id: str, phase: str) -> None:
    log = Log()
    log.write(0, native("n"), epoch(2))
    log.write(0, classic("a"), epoch(3))
    for number in range(3):
        log.write(1, native(f"n{number}"), epoch(4 + number))
    log.write(DAY, classic(member_id), epoch(8))
    assert upgrades_of(log)[TO_CLASSIC].phase == phase


def test_what_was_known_of_assignors_ends_with_the_conversion() -> None:
    log = turning()
    log.write(3000, gone(), classic("old"), epoch(3), native("n"), epoch(4))
    log.write(4000, left("n"), left("old"), epoch(None), value(5, [member("old", "t0", "t0")], STICKY))
    assert set(upgrades_of(log)) == {TO_CONSUMER, TO_CLASSIC}
    log = Log()
    log.write(0, value(1, [member("a", "t0")]))
    log.write(1000, gone(), classic("a"), epoch(1), native("n"), epoch(2))
    log.write(2000, left("n"), left("a"), epoch(None), value(2, [member("a", "t0", generation=1)], STICKY))
    assert COOPERATIVE not in upgrades_of(log)


def test_members_that_left_with_the_group_they_were_of_are_not_left_of_the_next() -> None:
    """Where their own tombstones are missing."""
    log = upgraded()
    log.write(2000, epoch(None), value(6, [member("a", "t0")]))
    log.write(3000, gone(), classic("a"), epoch(6), native("n"), epoch(7))
    log.write(4000, left("a"), epoch(8))
    result = upgrades_of(log)[TO_CONSUMER]
    assert (result.phase, result.finished_time) == ("finished", micros(4000))


def test_a_conversion_that_is_taken_back_half_way_does_not_stand_still() -> None:
    log = upgraded()
    log.write(2000, left("n"), left("a"), left("b"), epoch(None), value(6, [member("a", "t0"), member("b", "t1")]))
    upgrades = upgrades_of(log)
    forth, back = upgrades[TO_CONSUMER], upgrades[TO_CLASSIC]
    assert (forth.group_type, forth.phase, forth.readiness) == ("classic", "taken_back", "unknown")
    assert (ids(forth.members_remaining), [each.kind for each in forth.blockers]) == ({"a", "b"}, ["turned_back"])
    assert (forth.started_time, forth.evidence_first_offset) == (micros(1000), 1)
    assert (back.phase, ids(back.members_done), back.members_remaining, back.confidence) == (
        "finished",
        {"a", "b"},
        (),
        "certain",
    )
    assert (back.started_time, back.finished_time) == (micros(2000), micros(2000))


def test_a_group_that_is_converted_again_is_on_its_way_again() -> None:
    log = upgraded()
    log.write(2000, left("n"), left("a"), left("b"), epoch(None), value(6, [member("a", "t0")]))
    log.write(3000, gone(), classic("a"), epoch(6), native("m"), epoch(7))
    upgrades = upgrades_of(log)
    assert set(upgrades) == {TO_CONSUMER}
    assert (upgrades[TO_CONSUMER].phase, upgrades[TO_CONSUMER].started_time) == ("in_progress", micros(3000))


def test_classic_members_that_join_native_ones_lead_the_group_back() -> None:
    log = Log()
    log.write(0, native("n"), epoch(2))
    log.write(1000, classic("a"), epoch(3))
    row = upgrades_of(log)[TO_CLASSIC]
    assert (row.phase, ids(row.members_done), ids(row.members_remaining)) == ("in_progress", {"a"}, {"n"})
    assert row.started_time == micros(1000)
    back = log
    back.write(2000, left("n"), left("a"), epoch(None), value(4, [member("a", "t0")]))
    upgrades = upgrades_of(back)
    assert (upgrades[TO_CLASSIC].phase, upgrades[TO_CLASSIC].started_time) == ("finished", micros(1000))
    # It never was on its way forth.
    assert (upgrades[TO_CONSUMER].phase, upgrades[TO_CONSUMER].blockers) == ("not_started", ())


def test_a_classic_member_that_goes_again_leaves_no_way_behind() -> None:
    log = Log()
    log.write(0, native("n"), epoch(1))
    log.write(1000, classic("a"), epoch(2))
    log.write(2000, left("a"), epoch(3))
    assert upgrades_of(log) == {}


def test_a_classic_member_after_a_finished_conversion_leads_back() -> None:
    log = upgraded()
    log.write(2000, left("a"), left("b"), epoch(7))
    log.write(3000, classic("late"), epoch(8))
    upgrades = upgrades_of(log)
    assert (upgrades[TO_CONSUMER].phase, upgrades[TO_CONSUMER].finished_time) == ("finished", micros(2000))
    assert upgrades[TO_CONSUMER].members_remaining == ()
    assert (upgrades[TO_CLASSIC].phase, ids(upgrades[TO_CLASSIC].members_done)) == ("in_progress", {"late"})


def test_a_conversion_that_finished_and_the_one_back_are_two_finished_ones() -> None:
    """Members leave as classic ones and come back as native ones, and the other way round."""
    log = upgraded()
    log.write(2000, left("a"), left("b"), epoch(7))
    log.write(3000, native("n2"), epoch(8))
    log.write(4000, left("n"), epoch(9))
    log.write(5000, classic("c"), epoch(10))
    back = upgrades_of(log)[TO_CLASSIC]
    assert (back.phase, ids(back.members_done), ids(back.members_remaining)) == ("in_progress", {"c"}, {"n2"})
    log.write(6000, left("n2"), left("c"), epoch(None), value(10, [member("c", "t0 t1", version=1)]))
    log.write(6000 + 2 * DAY, value(11, [member("c", "t0", version=1), member("d", "t1", version=1)]))
    upgrades = upgrades_of(log)
    forth, back = upgrades[TO_CONSUMER], upgrades[TO_CLASSIC]
    assert (forth.phase, forth.started_time, forth.finished_time) == ("finished", micros(1000), micros(2000))
    # Who had changed until members began to go back.
    assert (ids(forth.members_done), forth.members_remaining) == ({"n", "n2"}, ())
    assert (back.phase, back.started_time, back.finished_time) == ("finished", micros(5000), micros(6000))
    assert (ids(back.members_done), back.members_remaining) == ({"c", "d"}, ())
    # What stands against another one, of the members that the group has now.
    assert (forth.readiness, {each.kind for each in forth.blockers}) == ("blocked", {"old_client"})


@pytest.mark.parametrize(
    ("time", "done"), [(None, {"n"}), (2000 + BACK_WITHIN, {"n", "n2"}), (2001 + BACK_WITHIN, {"n"})]
)
def test_who_changed_are_those_of_the_end_and_who_is_soon_back(time: int | None, done: set[str]) -> None:
    log = upgraded()
    log.write(2000, left("a"), left("b"), epoch(7))
    if time is not None:
        log.write(time, native("n2"), epoch(8))
    log.write(DAY, left("n2"), classic("c"), epoch(9))
    log.write(DAY, left("n"), left("c"), epoch(None), value(9, [member("c", "t0")]))
    assert ids(upgrades_of(log)[TO_CONSUMER].members_done) == done


def test_nobody_is_awaited_who_left_before_a_conversion() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0"), member("b", "t1")]))
    log.write(1000, value(2, [member("a", "t0 t1", generation=1)]))
    log.write(2000, gone(), classic("a"), epoch(2), native("n"), epoch(3))
    log.write(3000, left("n"), left("a"), epoch(None), value(3, [member("a", "t0 t1")]))
    log.write(4000, value(4, [member("c", "t0 t1")], STICKY))
    log.write(5000, value(5, [member("c", "t0", "t0 t1", generation=4), member("more", "t1")], STICKY))
    assert upgrades_of(log)[COOPERATIVE].finished_time == micros(4000)


def test_a_way_back_that_nobody_goes_on_with_is_stuck() -> None:
    log = upgraded()
    log.write(2000, left("a"), left("b"), epoch(7))
    log.write(3000, classic("c"), epoch(8))
    for number in range(3):
        log.write(4000 + number * DAY, native(f"n{number}"), epoch(9 + number))
    upgrades = upgrades_of(log)
    assert (upgrades[TO_CONSUMER].phase, upgrades[TO_CLASSIC].phase) == ("finished", "stuck")


def test_an_empty_group_is_converted_at_once() -> None:
    log = Log()
    log.write(0, value(3, [member("a", "t0")]))
    log.write(1000, value(4, []))
    log.write(2000, gone(), native("n"), epoch(1))
    row = upgrades_of(log)[TO_CONSUMER]
    assert (row.phase, row.started_time, row.finished_time) == ("finished", micros(2000), micros(2000))
    log.write(3000, left("n"), epoch(2))
    log.write(4000, epoch(None), value(0, [], protocol_type=""))
    log.write(5000, value(1, [member("b", "t0")]))
    upgrades = upgrades_of(log)
    assert (upgrades[TO_CLASSIC].phase, upgrades[TO_CLASSIC].finished_time) == ("finished", micros(4000))
    assert ids(upgrades[TO_CLASSIC].members_done) == {"b"}
    assert (upgrades[TO_CONSUMER].phase, upgrades[TO_CONSUMER].finished_time) == ("finished", micros(2000))


def test_a_log_that_begins_with_a_mixed_group_shows_a_conversion_begun_earlier() -> None:
    log = Log()
    log.write(0, native("n"))
    log.write(1000, classic("a"))
    log.write(2000, epoch(9))
    upgrades = upgrades_of(log)
    assert set(upgrades) == {TO_CONSUMER}
    row = upgrades[TO_CONSUMER]
    assert (row.phase, row.started_time, row.confidence) == ("in_progress", micros(1000), "likely")


def test_a_deleted_group_says_nothing_nor_does_its_namesake() -> None:
    log = upgraded()
    log.write(2000, left("n"), left("a"), left("b"), epoch(None))
    assert upgrades_of(log) == {}
    log.write(3000, native("n"), epoch(2))
    assert upgrades_of(log) == {}
    log.write(4000, epoch(None))
    log.write(5000, value(1, [member("c", "t0")]))
    assert upgrades_of(log)[TO_CONSUMER].phase == "not_started"


def test_share_and_streams_groups_are_on_no_way() -> None:
    log = Log()
    for group_type in ("share", "streams"):
        log.write(0, native("n", group_type=group_type), epoch(2, group_type=group_type))
    assert run(log.operations, {}, None) == ({}, {})


def test_an_emptied_classic_group_asks_for_no_readiness() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")]))
    log.write(1, value(2, []))
    assert upgrades_of(log) == {}
