"""Command lines that no command accepts, each with its exit code and the one line that says what is wrong, as somebody
read them. They are typed where the sample's warehouse is, and leave nothing behind."""

import gzip
import os
import shlex
from pathlib import Path

import pytest

from tests.audited_sample import SAMPLE, audited_sample
from tests.make.tables import without_runs
from tests.runs.typed_here import typed_here

__all__ = ["audited_sample"]

TEXT = Path(__file__).with_name("wrong_arguments.txt").read_text()
CASES = dict(case.removeprefix("$ ").rstrip("\n").split("\n") for case in TEXT.split("\n\n"))


@pytest.fixture(scope="module")
def folder(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("typed")
    links = {"warehouse": audited_sample, "sample": SAMPLE, "loop.log": place / "loop.log"}
    for name, target in links.items():
        (place / name).symlink_to(target)
    (place / "folder").mkdir()
    (place / "page").mkdir()
    files = {"file": b"", "page/index.html": b"<h1>mine</h1>", "key": b"k" * 32, "short.key": b"short",
             "words.log": b"hello\n", "packed.log.gz": gzip.compress(b"x"), "w.jsonl": b"{}\n"}  # fmt: skip
    for name, content in files.items():
        (place / name).write_bytes(content)
    os.mkfifo(place / "pipe.log")
    without_runs(place / "norun")
    return place


@pytest.mark.parametrize("words", CASES)
def test_a_wrong_argument_is_reported_in_one_line_and_changes_nothing(words: str, folder: Path) -> None:
    before = names_in(folder)
    done = typed_here(shlex.split(words), folder)
    code, _, message = CASES[words].partition(" ")
    assert (done.stdout, done.stderr.replace(str(folder), "FOLDER")) == ("", f"groupscope: {message}\n")
    assert (done.returncode, names_in(folder)) == (int(code), before)


def names_in(folder: Path) -> list[str]:
    # The warehouse's runs and marks, which each writing command would add to.
    inside = (folder / "warehouse").glob("*/_delta_log/*.json")
    return sorted(map(str, [*folder.rglob("*"), *inside]))
