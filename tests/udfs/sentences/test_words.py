"""Counts, names and durations in words, written down by hand."""

import pytest

from udfs.sentences.counts import counted
from udfs.sentences.durations import clock_time, in_words
from udfs.sentences.name_lists import list_names

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND


def test_one_thing_has_no_s_and_thousands_have_a_comma() -> None:
    assert [counted(number, "partition") for number in (0, 1, 1_200)] == [
        "0 partitions",
        "1 partition",
        "1,200 partitions",
    ]
    assert counted(2, "copy", "copies") == "2 copies"


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (0, "0 s"),
        (186_000, "0.2 s"),
        (9_949_999, "9.9 s"),
        # Not 9.9 s, nor 10.0 s.
        (9_950_000, "10 s"),
        (59 * SECOND + 400_000, "59 s"),
        # A second more than is shown otherwise: no 60 s.
        (59 * SECOND + 600_000, "1 min"),
        (4 * MINUTE + 10 * SECOND, "4 min 10 s"),
        (HOUR, "1 h"),
        # No minutes: the seconds are too small to count.
        (HOUR + 30 * SECOND, "1 h"),
        (DAY + 2 * HOUR + 3 * MINUTE, "1 d 2 h"),
        (400 * DAY, "400 d"),
    ],
)
def test_a_duration_has_its_two_largest_units(duration: int, words: str) -> None:
    assert in_words(duration) == words


def test_a_time_is_shown_in_utc_to_the_second() -> None:
    # By `date --utc --date=@1795230000`, and the second before 1970.
    assert clock_time(1_795_230_000_999_999) == "2026-11-21T03:00:00Z"
    assert clock_time(-1) == "1969-12-31T23:59:59Z"


def test_names_beyond_the_first_few_are_counted() -> None:
    assert list_names([], 2) == ""
    assert list_names(["a", "b"], 2) == "a, b"
    assert list_names(["a", "b", "c"], 2, gap=" ") == "a b and 1 more"
    assert list_names(["a"] * 1_500, 1) == "a and 1,499 more"
