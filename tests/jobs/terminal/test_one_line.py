"""What is wrong stands on one line, whatever a value holds: nothing of it moves a cursor, nobody pages through it."""

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.cli import main
from jobs.output.failure import MOST_SAID
from tests.audited_sample import ROOT
from tests.make.tables import without_runs

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


def test_a_file_in_place_of_a_warehouse_is_called_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w").touch()
    assert main(["groups", "--warehouse", str(tmp_path / "w")]) == 23
    expected = f"groupscope: {tmp_path}/w: is a file; {ADVICE}\n"
    assert capfd.readouterr().err == expected


READERS = [
    "status", "status a", "groups", "describe a", "why a", "rebalances a", "owner t 0", "partition a", "whatif a",
    "diff a --from now --to now", "offsets a --at now", "report", "report --copy-to copy --redact",
]  # fmt: skip


@pytest.mark.parametrize("words", READERS)
def test_of_a_warehouse_in_which_no_run_has_finished_that_is_said(
    words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a reader finds it while the first run works."""
    monkeypatch.chdir(tmp_path)
    without_runs(tmp_path / "w")
    assert main([*words.split(), "--warehouse", "w"]) == 23
    assert capfd.readouterr().err == "groupscope: w: no run has finished in it yet; run `groupscope audit`\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["_warehouse.json", "w"]


def test_a_report_of_no_group_is_refused(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--warehouse", str(folder / "warehouse"), "--report", str(tmp_path / "report")]
    assert main(["report", "--group", "^bills", *words]) == 2
    message = "matches no group of cluster sample, which has 30 groups; give a pattern that is found in a group's id"
    assert capfd.readouterr().err == f"groupscope: --group '^bills': {message}\n"
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("findigs", " (did you mean findings?)"), ("v_rebalance", " (did you mean v_rebalances?)"), ("quite_another", "")],
)
def test_a_table_that_there_is_not_is_reported_with_what_may_be_meant(
    folder: Path, name: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", f"SELECT * FROM {name}", "--warehouse", str(folder / "warehouse")]) == 2
    assert capfd.readouterr().err == f"groupscope: Catalog Error: Table with name {name} does not exist!{hint}\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["sql", "SELECT grop_id FROM findings"], "(did you mean group_id?)"),
        (["sql", "SELECT * FROM owner_att('clicks', 1, 'now')"], "(did you mean owner_at?)"),
        (["sql", "SELECT kafka_asign('{}')"], "(did you mean kafka_assign?)"),
        (["report", "--cluster", "sampl"], 'did you mean "sample"? (1 cluster: sample)'),
    ],
)
def test_what_was_misspelled_is_reported_with_what_may_be_meant(
    folder: Path, words: list[str], hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--warehouse", str(folder / "warehouse")]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith(hint)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--verison"], "(did you mean --version?); see groupscope --help"),
        (["version"], "(did you mean --version?); see groupscope --help"),
        (["dump", "--type", "OffsetComit", "/dev/null"], "(did you mean OffsetCommit?)"),
    ],
)
def test_what_was_misspelled_without_a_warehouse_too(
    words: list[str], hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith(hint)
