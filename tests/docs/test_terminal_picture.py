"""The picture of `why` in the README is what the command prints: its texts, read back, are the lines of the golden
output, at the columns where they stand there."""

from collections import defaultdict
from xml.etree import ElementTree

from jobs.output.rows import width_of
from tests.docs.terminal_picture import COLUMNS, EDGE, HEIGHT, OUTPUT, PICTURE, WIDTH, picture
from tests.terminals.golden_output import ROOT


def drawn_lines():
    """Of the picture, from top to bottom."""
    lines = defaultdict(str)
    for text in ElementTree.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text"):
        column = (int(text.attrib["x"]) - EDGE) // WIDTH
        number = (int(text.attrib["y"]) - EDGE) // HEIGHT
        lines[number] = lines[number].ljust(column) + (text.text or "")
        assert int(text.attrib["textLength"]) == width_of(text.text or "") * WIDTH
    return [lines[number] for number in range(max(lines) + 1)]


def test_the_picture_is_of_the_golden_output():
    assert PICTURE.read_text() == picture(), "run: python -m tests.docs.terminal_picture"


def test_every_word_that_is_printed_stands_in_the_picture():
    *printed, code = OUTPUT.read_text().splitlines()
    assert code == "--- exit code 0"
    assert " ".join(drawn_lines()).split() == " ".join(printed).split()


def test_rows_of_the_drawing_stand_as_printed_and_nothing_is_wider_than_the_picture():
    drawn = drawn_lines()
    assert max(map(len, drawn)) <= COLUMNS
    rows = [line for line in OUTPUT.read_text().splitlines() if line.lstrip().startswith(("clicks-0  ", "clicks-2  "))]
    assert len(rows) == 2
    assert [line for line in drawn if line.lstrip().startswith(("clicks-0  ", "clicks-2  "))] == rows


def test_the_readme_shows_it():
    assert f"(docs/{PICTURE.name})" in (ROOT / "README.md").read_text()
