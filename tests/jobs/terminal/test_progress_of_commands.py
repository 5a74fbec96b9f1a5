"""Commands on a real terminal, so impatient that every step of a small one is seen: what they show of how far they are,
and what is left of it."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.audited_sample import ROOT, SAMPLE
from tests.runs.progress_lines import PROGRESS, beside_progress
from tests.terminals.terminals import Shown, on_terminal

IMPATIENT = """
import sys
from jobs.cli import main
from jobs.output import progress
progress.SILENT_SECONDS, progress.LIVE_SECONDS, progress.LOG_SECONDS = 0, 0.002, 0.05
progress.STALLED_SECONDS = 0.3
sys.exit(main(sys.argv[1:]))
"""
# Half a second of work, and one row.
SLOW = "SELECT count(*) AS n FROM offset_commits AS a, range(8000) AS b WHERE hash(a.record_offset * b.range) > 0"
LOGS = [str(file) for file in sorted(SAMPLE.glob("*/*.log"))]


def impatient(*words: str) -> list[str]:
    return [sys.executable, "-c", IMPATIENT, *words]


def drawn(shown: Shown) -> list[str]:
    return re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", shown.text)


def quietly(words: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "jobs.cli", *words, "--quiet"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("doctor",), r"doctor: \d+% of \d+ files, .*|doctor: \d+% of [\d,]+ rows, .*|doctor: \d+% of \d+ tables, .*"),
        (("report", "--report", "REPORT"), r"report: \d+% of \d+ groups, .*"),
        (("sql", SLOW), r"sql: [1-9]\d?%, \d+ s so far, about \d+ s left"),
        # Java takes standard error while it starts: the line is still on the terminal.
        pytest.param(("sql", "SELECT 1 AS n", "--engine", "spark"), r"starting Spark: .*", marks=pytest.mark.spark),
        (("groups",), r"groups: \d+ s so far"),
        # Of no group, so that nothing is printed.
        (("dump", "--group", "^$", *LOGS * 4), r"dump: [1-9]\d*% of \d+ MB, .*"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_what_may_take_long_shows_how_far_it_is_and_leaves_nothing_behind(
    words: tuple[str, ...], expected: str, audited_sample: Path, tmp_path: Path
) -> None:
    command = [str(tmp_path) if word == "REPORT" else word for word in words]
    command += [] if words[0] == "dump" else ["--warehouse", str(audited_sample)]
    missing = set(expected.split("|"))
    # On a busy machine a short part may be over before anything is drawn.
    for _ in range(5):
        shown = on_terminal(impatient(*command), folder=ROOT)
        assert shown.code == 0
        lines = drawn(shown)
        assert all(PROGRESS.fullmatch(f"groupscope: {line}") for line in lines)
        assert not [line for line in shown.screen if "so far" in line]
        missing -= {pattern for pattern in missing for line in lines if re.fullmatch(pattern, line)}
        if not missing:
            break
    assert not missing, missing


def test_nothing_is_drawn_into_an_answer_of_several_processes() -> None:
    # On a busy machine the answer may be there before anything is drawn.
    tries = (on_terminal(impatient("dump", *LOGS), folder=ROOT) for _ in range(5))
    shown = next(each for each in tries if drawn(each))
    assert shown.screen == quietly(["dump", *LOGS])


def test_standard_output_has_the_answer_alone_and_a_log_the_progress(audited_sample: Path) -> None:
    words = ["sql", SLOW, "--format", "json", "--warehouse", str(audited_sample)]
    done = subprocess.run(impatient(*words), cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == quietly(words)
    assert done.stderr.splitlines()
    assert beside_progress(done.stderr) == []
    assert "\r" not in done.stderr


def test_nothing_is_drawn_while_somebody_reads_the_answer_in_a_pager() -> None:
    """The reader takes a little, says so on the terminal, waits, and takes the rest."""
    reader = "(head -c 1000 > /dev/null; sleep 1.5; echo BEGIN; sleep 1.5; echo END; cat > /dev/null)"
    shown = on_terminal(["bash", "-c", f"{shlex.join(impatient('dump', *LOGS))} | {reader}"], folder=ROOT)
    assert drawn(shown)
    assert "so far" not in shown.text.partition("BEGIN")[2].partition("END")[0]
    assert "END" in shown.text


def test_every_step_of_an_audit_shows_how_far_it_is_and_leaves_nothing_behind(tmp_path: Path) -> None:
    words = ["audit", "--source", f"segments:{SAMPLE}", "--cluster", "sample", "--fail-on", "never"]
    places = ["--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "report")]
    shown = on_terminal(impatient(*words, *places), folder=ROOT)
    assert shown.code == 0
    lines = drawn(shown)
    for line in lines:
        assert PROGRESS.fullmatch(f"groupscope: {line}"), line
    assert {line.partition(":")[0] for line in lines} == {"ingest", "replay", "assignments", "lag", "gate", "report"}
    statements = [int(match[1]) for line in lines if (match := re.match(r"gate: (\d+)% of \d+ statements", line))]
    assert statements == sorted(statements)
    assert len(set(statements)) > 3
    assert not [line for line in shown.screen if re.search(r"\d s so far", line)]
