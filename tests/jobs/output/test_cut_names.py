"""Names that are longer than their column: what is left of each, and that different ones stay different."""

import unicodedata
from itertools import groupby

import numpy as np
import pytest

from jobs.output.rows import CUT, Format, cut_middle, cut_names, row_lines

LETTERS = "abcdefgxyz-._0123456789"
# Two columns wide, and marks upon the letter before them.
WIDE, MARKED = "日本語テスト", "e\u0301o\u0308n\u0303"


def columns_of(text: str) -> int:
    """As terminals count: https://www.unicode.org/reports/tr11/."""
    wide = (unicodedata.east_asian_width(char) in "WF" for char in text)
    return sum(0 if unicodedata.combining(char) else 1 + is_wide for char, is_wide in zip(text, wide, strict=True))


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("short", 8, "short"),
        ("a-long-name-1", 9, "a-lo…me-1"),
        ("a-long-name-1", 8, "a-lo…e-1"),
        ("日本語日本語", 8, "日本…語"),
        ("日本語日本語", 9, "日本…本語"),
        # A mark is never without its letter.
        ("e\u0301" * 9, 5, "e\u0301" * 2 + "…" + "e\u0301" * 2),
    ],
)
def test_a_name_is_cut_in_the_middle(name: str, width: int, shown: str) -> None:
    assert cut_middle(name, width) == shown


@pytest.mark.parametrize(
    ("names", "width", "shown"),
    [
        # They differ at their ends.
        ({"prefix-of-all-orders-1", "prefix-of-all-orders-2"}, 9, {"pref…rs-1", "pref…rs-2"}),
        # In the middle.
        ({"a" * 40 + "1" + "z" * 40, "a" * 40 + "2" + "z" * 40}, 12, {"aaa…a1zzzzz…", "aaa…a2zzzzz…"}),
        # Some later than others.
        (
            {"a" * 40 + each + "z" * 40 for each in ("1", "2bbbbbbbbbbbbbbbbbbbb1", "2bbbbbbbbbbbbbbbbbbbb2")},
            12,
            {"aaa…a1zzzzz…", "aaa…b1zzzzz…", "aaa…b2zzzzz…"},
        ),
        # By their length alone.
        ({"a" * 30, "a" * 60}, 8, {"aa…a", "aa…aaaa…"}),
        ({"order-" * 9 + "-.new", "order-" * 9 + ".new"}, 8, {"or…-.new", "or…--.n…"}),
        # One that is not too long stays as it is.
        ({"pre…1", "previous-1"}, 5, {"pre…1", "pr…-1"}),
    ],
)
def test_names_stay_different(names: set[str], width: int, shown: set[str]) -> None:
    assert set(cut_names(names, width).values()) == shown


def random_names(rng: np.random.Generator) -> set[str]:
    """That share beginnings and ends, with a difference somewhere."""
    alphabet = [*LETTERS, *WIDE, *(MARKED[place : place + 2] for place in range(0, len(MARKED), 2))]

    def text(most: int) -> str:
        return "".join(rng.choice(alphabet, rng.integers(most)))

    head, tail = text(120), text(120)
    return {f"n{head}{text(4)}{tail}" for _ in range(rng.integers(1, 12))} | {f"n{text(30)}" for _ in range(3)}


@pytest.mark.parametrize("number", range(50))
def test_what_is_left_fits_and_differs(rng: np.random.Generator, number: int) -> None:
    names, width = random_names(rng), int(rng.integers(8, 60))
    cut = cut_names(names, width)
    assert set(cut) == names
    for name, shown in cut.items():
        assert columns_of(shown) <= width
        parts = shown.split(CUT) if shown != name else [name]
        assert (shown == name) == (columns_of(name) <= width)
        # Of its beginning, and something after it; each part is of the name, from left to right.
        assert name.startswith(parts[0]) and parts[0] and (len(parts) == 1 or parts[1])
        assert not any(unicodedata.combining(part[0]) for part in parts if part)
    assert len(set(cut.values())) == len(names), [
        list(some) for _, some in groupby(sorted(names, key=cut.__getitem__), key=cut.__getitem__)
    ]


def test_sentences_are_cut_at_their_end_and_names_in_other_rows_too() -> None:
    detail = "members joined and left, one after the other"
    rows = [[f"{'g' * 100}-{number}", detail, number] for number in range(1_100)]
    lines = list(row_lines(["group_id", "detail", "n"], rows, Format.TABLE, width=40))
    assert lines[2] == "gggggggg…ggggg-0  members joined …    0"
    # Beyond the rows that were measured.
    assert lines[-1].split()[0] == "gggggggg…gg-1099"
    assert list(row_lines(["group_id"], [["g" * 249]], Format.TABLE))[-1] == "g" * 249
