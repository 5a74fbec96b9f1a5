"""Command lines that no command accepts, each with the one line that says what is wrong, as somebody read it."""

import shlex
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode

TEXT = Path(__file__).with_name("wrong_arguments.txt").read_text()
CASES = [case.split("\n")[:2] for case in TEXT.removeprefix("$ ").split("\n\n$ ")]


@pytest.mark.parametrize(("words", "message"), CASES, ids=[case[0] for case in CASES])
def test_a_wrong_argument_is_reported_in_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(shlex.split(words)) == ExitCode.USAGE
    out, errors = capsys.readouterr()
    assert (out, errors) == ("", f"groupscope: {message}\n")
    assert list(tmp_path.iterdir()) == []
