"""Times and groups that are not in the log: one line and exit code 2, since a clean run would be wrong."""

from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.by_hand import commit, write_log, write_snapshot
from tests.runs.ingested import ingest
from tests.runs.replayed_logs import replay, result_of

# The first record is of 11:06:50, the snapshot of 11:07:40 (UTC); nobody's clock shows the year 2999 yet.
BEFORE = "2026-11-18T11:06:49.999Z"
FUTURE = "2999-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    source = write_log(folder / "log", {0: [commit("billing", "orders", 0, 10)]})
    ingest(folder / "w", "--source", source, "--snapshots", write_snapshot(folder / "s.jsonl", 60, {"orders": 1}))
    replay(folder / "w")
    result_of("lag", folder / "w")
    return folder / "w"


ASKED = [
    ("lag", ["--as-of", BEFORE], f"--as-of {BEFORE}: is before the first record and snapshot of cluster default; "
     "give 2026-11-18T11:06:50.000Z or a later time"),
    ("lag", ["--as-of", FUTURE], f"--as-of {FUTURE}: is in the future; give a time up to "),
    ("gate", ["--as-of", BEFORE], f"--as-of {BEFORE}: is before the first record and snapshot of cluster default; "
     "give 2026-11-18T11:06:50.000Z or a later time"),
    ("gate", ["--as-of", FUTURE], f"--as-of {FUTURE}: is in the future; give a time up to "),
    ("gate", ["--group", "^bills"], "--group '^bills': matches no group of cluster default, which has 1 group; "
     "give a pattern that is found in a group's id"),
    ("gate", ["--group", "bill", "--exclude-group", "^b"], "--group 'bill' --exclude-group '^b': leave no group of "
     "cluster default, which has 1 group; give patterns that leave one"),
    ("report", ["--group", "bill", "--exclude-group", "^b"], "--group 'bill' --exclude-group '^b': leave no group of "
     "cluster default, which has 1 group; give patterns that leave one"),
    ("gate", ["--exclude-group", ""], "--exclude-group '': leaves out every group; give a regular expression"),
    ("gate", ["--since", "2026-11-19", "--until", "2026-11-18"], "--until 2026-11-18: is before "
     "--since 2026-11-19; give a later time"),
    ("gate", ["--fail-on", "fatal"], "argument --fail-on: invalid choice: 'fatal' (choose from "),
    ("gate", ["--since", "tomorrow"], "--since 'tomorrow': give ISO 8601 such as 2026-11-21T03:00 or 2026-11-21"),
]  # fmt: skip


@pytest.mark.parametrize(("job", "flags", "message"), ASKED)
def test_a_question_without_an_answer_gets_one_line(
    warehouse: Path, capfd: pytest.CaptureFixture[str], job: str, flags: list[str], message: str
) -> None:
    runs = sorted((warehouse / "_runs").iterdir())
    assert cli.main([job, "--warehouse", str(warehouse), *flags]) == ExitCode.USAGE
    out, said = capfd.readouterr()
    assert (out, said.count("\n"), message in said) == ("", 1, True), said
    assert sorted((warehouse / "_runs").iterdir()) == runs


@pytest.mark.parametrize("flags", [["--as-of", "2026-11-18T11:06:50"], ["--group", "^bill"], ["--as-of", "now"]])
def test_a_question_with_an_answer_gets_it(warehouse: Path, flags: list[str]) -> None:
    assert cli.main(["gate", "--warehouse", str(warehouse), "--fail-on", "never", *flags]) == 0
