"""Words are read as their text says; a line that is wrong, or a class that names others, says so."""

import pytest

from schemas.words import enumerations
from schemas.words.enumerations import Meant, Word, read, words_of
from schemas.words.gate import ExportedMetric, FindingKind
from schemas.words.history import Severity
from schemas.words.lines import WrongDeclaration

TEXT = """\
# How full.
words Level of cups, jugs.level, v_cups.levels.level
  half-full  Half of it,
             or more.
  low, info, nearly empty  Less.

words Sold
  cups_total{cluster, kind}  All of them.
"""
WRONG = {
    "words Level": ("word Level", 2, "expected words NAME [of TABLE.COLUMN]"),
    "  half-full  Half": ("  half-full Half", 3, "expected a value and, after two spaces, what it means"),
    "  low,": ("  half-full,", 5, "expected a value that no line before has"),
    "  cups_total{cluster, kind}  All of them.\n": ("", 7, "expected values below it"),
}


def test_a_file_is_read_as_its_text_says() -> None:
    level, sold = dict(read("x.words", TEXT.splitlines())).values()
    assert level.places == (("cups", "level"), ("jugs", "level"), ("v_cups", "levels.level"))
    assert [*level.words.values()] == [
        Word("half-full", "", "Half of it, or more."),
        Word("low", "info, nearly empty", "Less."),
    ]
    assert (sold.places, sold.words["cups_total"].about) == ((), "{cluster, kind}")


@pytest.mark.parametrize("right", WRONG)
def test_a_wrong_line_says_its_file_its_number_and_what_was_expected(right: str) -> None:
    wrong, number, expected = WRONG[right]
    assert right in TEXT
    with pytest.raises(WrongDeclaration, match=rf"^x\.words, line {number}: ") as refused:
        [*read("x.words", TEXT.replace(right, wrong, 1).splitlines())]
    assert expected in str(refused.value)


def test_a_class_has_the_values_that_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = dict(read("x.words", TEXT.splitlines()))
    monkeypatch.setattr(enumerations, "enumerations", lambda: declared)

    class Level(Meant):
        HALF_FULL = "half-full"

    with pytest.raises(WrongDeclaration, match="words Level: expected half-full, got half-full, low"):
        words_of(Level)


def test_what_is_said_of_a_word_beside_its_meaning() -> None:
    """Each kind of finding has a severity and a heading, and each metric the labels of its samples."""
    assert {kind.severity for kind in FindingKind} == {*Severity}
    assert all(kind.heading and kind.meaning.endswith((".", ")")) for kind in FindingKind)
    assert ExportedMetric.FINDINGS.labels == ("severity", "kind", "is_new")
    assert ExportedMetric.WAIVED.labels == ()
