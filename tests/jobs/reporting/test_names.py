"""Names of anybody's choice, as the page without a script shows them."""

import pytest

from jobs.reporting.pages import group_name, shorten


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("billing", "billing"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("pay\u202egnp.exe", "pay\\u202egnp.exe"),
        ("a\nb\x00", "a\\nb\\x00"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("ok 🦊 é", "ok 🦊 é"),
    ],
)
def test_what_moves_text_around_is_shown_as_an_escape(name: str, shown: str) -> None:
    assert shorten(name) == shown


def test_a_long_name_keeps_both_ends_and_says_how_much_is_left_out() -> None:
    # 12 characters may stand: 8 at the beginning, 2 at the end.
    assert shorten("abcdefgh" + "-" * 90 + "yz", 12) == "abcdefgh… 90 more …yz"
    assert shorten("x" * 12, 12) == "x" * 12


def test_a_name_of_which_nothing_would_be_seen_stands_in_quotes() -> None:
    assert [group_name(name) for name in ("", " ", "a", "\u200b")] == ["''", "' '", "a", "\\u200b"]
