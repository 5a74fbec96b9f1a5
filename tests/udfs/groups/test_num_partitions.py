"""The number of offsets partitions that groups show. Partitions of names are as kafka-consumer-groups and Java say:
"orders".hashCode() is -1008770331, "billing" is -109829509, "audit" is 93166555, "a" is 97."""

import random

import pytest

from udfs.groups.num_partitions import number_that_fits

HASHES = {"orders": 1008770331, "billing": 109829509, "audit": 93166555, "a": 97}


def placed(number):
    return [(name, value % number) for name, value in HASHES.items()]


@pytest.mark.parametrize("number", [50, 25, 10, 7, 100, 300])
def test_groups_show_the_number(number):
    assert number_that_fits(placed(number), number - 1) == number


def test_kafkas_default_wins_where_it_fits():
    # 25 fits them as well.
    assert number_that_fits([(name, value % 50) for name, value in HASHES.items() if value % 50 < 25] * 3, 24) == 50


def test_two_groups_show_nothing():
    assert number_that_fits(placed(50)[:2], 49) is None


def test_a_group_elsewhere_fits_no_number():
    """As after partitions were added: the old records stay where they were."""
    assert number_that_fits([*placed(50), ("orders", (HASHES["orders"] + 1) % 50)], 49) is None


def test_drawn_names_show_the_number(seed):
    draw = random.Random(seed)
    number = draw.randint(2, 400)
    names = ["".join(draw.choices("abcdefghij-.é", k=draw.randint(1, 30))) for _ in range(40)]
    assert number_that_fits([(name, java_partition(name, number)) for name in names], number - 1) == number


def java_partition(name, number):
    """As String.hashCode and Utils.abs have it, a character at a time."""
    value = 0
    for unit in name:
        value = (value * 31 + ord(unit)) % 2**32
    value = value - 2**32 if value >= 2**31 else value
    return (0 if value == -(2**31) else abs(value)) % number
