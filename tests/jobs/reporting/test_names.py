"""Names of anybody's choice, as the report shows them."""

import pytest

from jobs.reporting.rows.names import anchor, group_name, shorten


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


# The digits are those of sha256sum.
@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("a", "group-a-ca978112ca"),
        ("Billing_EU.2", "group-billing-eu-2-cef60a8bec"),
        ("", "group-e3b0c44298"),
        ("<b>", "group-b-507ca5a274"),
        ("日本", "group-cf2abf0c5b"),
    ],
)
def test_a_link_holds_no_character_of_a_name_that_means_something_there(group: str, expected: str) -> None:
    assert anchor(group) == expected


def test_names_that_look_alike_have_links_of_their_own() -> None:
    assert len({anchor(name) for name in ("a b", "a-b", "A-b", "a/b", "a\x00b")}) == 5
    assert len(anchor("x" * 32_000)) < 64


def test_a_name_of_which_nothing_would_be_seen_stands_in_quotes() -> None:
    assert [group_name(name) for name in ("", " ", "a", "\u200b")] == ["''", "' '", "a", "\\u200b"]
