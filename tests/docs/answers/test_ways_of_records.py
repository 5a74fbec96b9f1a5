"""The page on the architecture tells the truth about the functions that a record passes."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

from jobs import cli

ROOT = Path(__file__).parents[3]
CELL = re.compile(r"`([\w/]+\.py)` `(\w+)`")
MOST_FILES = 15


def ways() -> list[list[tuple[str, str]]]:
    """By column of the table, files and functions."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("## The way of one record\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[2:5] for line in section.splitlines() if CELL.search(line)]
    return [[found.groups() for cell in column if (found := CELL.search(cell))] for column in zip(*rows, strict=True)]  # type: ignore[misc]


def calls(*commands: list[str]) -> set[tuple[str, str]]:
    """Of functions of ours, while commands run in this process."""
    found: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and (name := frame.f_code.co_filename).startswith(str(ROOT)):
            found.add((str(Path(name).relative_to(ROOT)), frame.f_code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        for command in commands:
            assert cli.main(command) == 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


def test_each_function_is_passed_in_few_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = ["--warehouse", str(tmp_path / "w"), "--workers", "1"]
    source = ["--source", f"segments:{ROOT / 'data' / 'sample' / '__consumer_offsets-2'}"]
    passed = calls(["ingest", *here, *source], ["replay", *here], ["assignments", *here])
    for way in ways():
        assert set(way) <= passed
        assert 10 < len({file for file, _ in way}) == len(way) <= MOST_FILES
