"""What is wrong stands on one line, whatever a value holds: nothing of it moves a cursor, nobody pages through it."""

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.cli import main
from jobs.output.failure import MOST_SAID
from tests.audited_sample import ROOT

HOSTILE = "<b>x</b>\x1b[31m\u202eabc\r\nnew"
ADVICE = "give the folder of a warehouse, or create one with `groupscope audit`"
SPELLED = "<b>x</b>\\x1b[31m\\u202eabc\\r\\nnew"


def test_a_path_of_control_characters_is_spelled_out(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "--warehouse", HOSTILE]) == 2
    why = "tables cannot be in a folder with '\\x1b' in its path; choose another one"
    assert capfd.readouterr().err.endswith(f"{SPELLED}': {why}\n")
    assert main(["groups", "--warehouse", "pay\u202egnp.exe"]) == 23
    assert capfd.readouterr().err == f"groupscope: pay\\u202egnp.exe: no such folder; {ADVICE}\n"


@pytest.mark.parametrize("flag", ["--warehouse", "--group", "--report"])
def test_a_value_of_32_kb_is_cut_in_the_middle(
    folder: Path, flag: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["report", flag, "x" * 32_768]) != 0
    (line,) = capfd.readouterr().err.splitlines()
    assert len(line) == len("groupscope: ") + MOST_SAID + len(" … ")
    # The advice stands at the end.
    assert not line.endswith("x")


def test_what_is_printed_to_a_closed_output_goes_nowhere_else(folder: Path) -> None:
    """What is opened first would take the number of standard output, be it a file of a table."""
    command = f"PYTHONPATH={ROOT} {sys.executable} -m jobs.cli groups >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "groupscope: standard output: Bad file descriptor\n")
