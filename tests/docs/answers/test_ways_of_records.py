"""The page on the architecture is right about the functions that a record passes."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

from jobs import cli

ROOT = Path(__file__).parents[3]
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `(\w+)`", re.MULTILINE)
MOST_FILES = 15
# With a classic group, and with a consumer group.
PARTITION = 4


def ways() -> list[list[tuple[str, str]]]:
    """Of each kind of record, files and functions."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("## The way of one record\n")[2].partition("\n## ")[0]
    return [STEP.findall(way) for way in section.split("\n### ")[1:]]


def calls(*commands: list[str]) -> set[tuple[str, str]]:
    """Of functions of ours, while commands run in this process."""
    result: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and (name := frame.f_code.co_filename).startswith(str(ROOT)):
            result.add((str(Path(name).relative_to(ROOT)), frame.f_code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        for command in commands:
            assert cli.main(command) == 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return result


def test_each_function_is_passed_in_few_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = ["--warehouse", str(tmp_path / "w"), "--workers", "1"]
    source = ["--source", f"segments:{ROOT}/data/sample/__consumer_offsets-{PARTITION}"]
    passed = calls(["ingest", *here, *source], ["replay", *here], ["assignments", *here])
    assert len(ways()) == 4
    for way in ways():
        assert set(way) <= passed
        assert 10 < len({file for file, _ in way}) == len(way) <= MOST_FILES
