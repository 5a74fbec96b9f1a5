"""Damaged records of several copies of a log, counted by hand."""

import numpy as np

from udfs.log.damage import Damage, damage_up_to, joined_damage


def test_ranges_of_one_file_add_up_and_copies_of_the_same_damage_do_not() -> None:
    ranges = [("a", Damage(10, 19, 2)), ("a", Damage(10, 19, 3)), ("b", Damage(10, 19, 4))]
    assert joined_damage(ranges) == [Damage(10, 19, 5)]


def test_damage_that_overlaps_is_one_and_its_neighbour_another() -> None:
    ranges = [("a", Damage(30, 39, 1)), ("a", Damage(15, 24, 2)), ("b", Damage(10, 19, 4)), ("b", Damage(25, 26, 1))]
    assert joined_damage(ranges) == [Damage(10, 24, 6), Damage(25, 26, 1), Damage(30, 39, 1)]


def test_records_that_another_copy_has_are_not_lost() -> None:
    damage = Damage(10, 19, 4)
    assert damage.num_left(np.array([], np.int64)) == 4
    # Six of the ten offsets are known, one of them twice: four may be lost, of seven three.
    assert damage.num_left(np.array([10, 11, 12, 13, 14, 15, 15])) == 4
    assert damage.num_left(np.arange(10, 17)) == 3
    assert damage.num_left(np.arange(10, 20)) == 0


def test_damage_that_begins_later_does_not_count_yet() -> None:
    damage = [Damage(0, 4, 1), Damage(8, 9, 1)]
    assert damage_up_to(damage, 7) == (damage[0],)
    assert damage_up_to(damage, 8) == tuple(damage)
