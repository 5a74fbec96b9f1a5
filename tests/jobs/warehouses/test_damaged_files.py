"""A file of a table that is lost, cut or overwritten: each command that reads it says in one line which file it is, and
what mends it, and ends with 23."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs import cli
from jobs.output.failure import code_and_line
from schemas.words.exit_codes import ExitCode
from tests.audited_sample import SAMPLE, audited_sample
from tests.runs.ingested import ROOT

__all__ = ["audited_sample"]

Capture = pytest.CaptureFixture[str]
NOISE = bytes(range(256)) * 2


def newest_commit(table: Path) -> Path:
    return sorted((table / "_delta_log").glob("*.json"))[-1]


def most_data(table: Path) -> Path:
    """A file of few rows may be one whose pages a command has no need to read."""
    return max(table.glob("*.parquet"), key=lambda file: file.stat().st_size)


def cut(file: Path) -> Path:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return file


def overwritten(file: Path) -> Path:
    size = file.stat().st_size
    file.write_bytes((NOISE * (size // len(NOISE) + 1))[:size])
    return file


def emptied(file: Path) -> Path:
    file.write_bytes(b"")
    return file


def lost(file: Path) -> Path:
    file.unlink()
    return file


def bad_pages(file: Path) -> Path:
    """Its footer is whole."""
    content = bytearray(file.read_bytes())
    for place in range(10, len(content) // 3):
        content[place] ^= 0x5A
    file.write_bytes(bytes(content))
    return file


def bad_checkpoint(commit: Path) -> Path:
    (commit.parent / "_last_checkpoint").write_text(f'{{"version":{int(commit.stem)},"size":3}}')
    file = commit.with_suffix(".checkpoint.parquet")
    file.write_bytes(NOISE)
    return file


DAMAGES: dict[str, Callable[[Path], Path]] = {
    "a commit is empty": lambda table: emptied(newest_commit(table)),
    "a commit is cut": lambda table: cut(newest_commit(table)),
    "a commit is noise": lambda table: overwritten(newest_commit(table)),
    "a checkpoint is noise": lambda table: bad_checkpoint(newest_commit(table)),
    "data is lost": lambda table: lost(most_data(table)),
    "data is cut": lambda table: cut(most_data(table)),
    "data is noise": lambda table: overwritten(most_data(table)),
    "pages of data are bad": lambda table: bad_pages(most_data(table)),
}
COMMANDS = {
    "audit": ["audit", "--source", f"segments:{SAMPLE}", "--config", str(ROOT / "conf" / "sample.toml")],
    "sql": ["sql", "SELECT * FROM rebalances"],
    "status": ["status"],
    "report": ["report"],
    "doctor": ["doctor"],
}


def check_named(words: list[str], folder: Path, file: Path, capfd: Capture) -> None:
    capfd.readouterr()
    report = ["--report", str(folder / "r")] if words[0] in ("audit", "report") else []
    assert cli.main([*words, "--warehouse", str(folder / "w"), *report]) == ExitCode.UNUSABLE_WAREHOUSE
    said = capfd.readouterr()
    lines = said.out.splitlines() if words[0] == "doctor" else said.err.splitlines()
    named = [line for line in lines if file.name in line]
    assert named and (len(lines) == 1 or words[0] == "doctor"), said
    assert "internal error" not in said.err and "<unknown>" not in said.out + said.err and "/**" not in said.err
    mends = ("doctor", "--full", "from a backup")
    assert any(each in named[0] for each in mends)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_with_what_mends_it(
    audited_sample: Path, tmp_path: Path, capfd: Capture, damage: str, command: str
) -> None:
    shutil.copytree(audited_sample, tmp_path / "w")
    check_named(COMMANDS[command], tmp_path, DAMAGES[damage](tmp_path / "w" / "rebalances"), capfd)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_the_runs_is_named_by_every_reader(
    audited_sample: Path, tmp_path: Path, capfd: Capture, damage: str
) -> None:
    """Which all commands read first."""
    shutil.copytree(audited_sample, tmp_path / "w")
    file = DAMAGES[damage](tmp_path / "w" / "runs")
    for words in (["groups"], ["sql", "SELECT 1 FROM rebalances"]):
        check_named(words, tmp_path, file, capfd)


def test_an_internal_error_does_not_repeat_the_calls_inside_a_library() -> None:
    error = RuntimeError("no such thing\nmore of it\n   0: <unknown>\n   1: start_thread\n   at ./nptl/x.c:442:8")
    line = "internal error, please report it: RuntimeError: no such thing (--debug shows where)"
    assert code_and_line(error) == (ExitCode.FAILED, line)
