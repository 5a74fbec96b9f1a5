"""Every command on docs/assignors.md answers what the page shows: specs by themselves, groups over the sample."""

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import cli

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "assignors.md").read_text()
SPECS = re.findall(r"```jsonl\n(.*?)```\n\n```console\n\$ groupscope assign < specs.jsonl\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"```console\n\$ groupscope ((?!assign )[^\n]+)\n(.*?)```", PAGE, re.DOTALL)
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "warehouse"
    source = [
        "--source",
        f"segments:{SAMPLE}",
        "--snapshots",
        str(SAMPLE / "snapshots.jsonl"),
        "--cluster",
        "sample",
        "--fail-on",
        "never",
    ]
    assert cli.main(["audit", *source, "--warehouse", str(folder)]) == 0
    return folder


def test_the_page_has_examples():
    assert len(SPECS) + len(COMMANDS) == PAGE.count("$ groupscope ") > 9
    assert len(SPECS) == PAGE.count("```jsonl") > 8


@pytest.mark.parametrize(("specs", "shown"), SPECS)
def test_specs_are_answered_as_the_page_shows(specs, shown, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(specs.encode())))
    assert cli.main(["assign"]) == 0
    assert capfd.readouterr().out == shown


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_answers_what_the_page_shows(command, shown, warehouse, capfd):
    capfd.readouterr()
    assert cli.main([*shlex.split(command), "--warehouse", str(warehouse)]) == 0
    assert capfd.readouterr().out == shown


@pytest.mark.parametrize("text", QUERIES)
def test_the_sql_of_the_page_has_an_answer(text, warehouse):
    command = [sys.executable, "-m", "jobs.cli", "sql", text, "--warehouse", str(warehouse), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_every_known_defect_is_on_the_page():
    """The page is the list that people look at."""
    folder = ROOT / "udfs" / "audit"
    named = {
        number
        for path in folder.rglob("*.py")
        for number in re.findall(r'"KAFKA-(\d+)"', path.read_text(encoding="utf-8"))
    }
    matches = set(re.findall(r"\b\d{4,5}\b", PAGE[PAGE.index("**Known defects.**") : PAGE.index("## What another")]))
    assert named == matches
    assert len(named) > 25


def test_every_blocker_verdict_and_check_is_on_the_page():
    from schemas.words.assignments import AuditReason, BlockerKind, CheckName, Migration, Verdict

    words = [each.value for kind in (BlockerKind, Verdict, AuditReason, Migration, CheckName) for each in kind]
    assert [word for word in words if f"`{word}`" not in PAGE] == []


def test_every_step_of_the_map_is_in_the_code():
    """A name in the column of ours is a function, a class or a field of the assignors."""
    table = PAGE.split("## Where each step is\n")[1].split("\n## ")[0]
    code = "\n".join(file.read_text() for file in sorted((ROOT / "udfs" / "assignors").rglob("*.py")))
    names = [name for line in table.splitlines()[5:] for name in re.findall(r"`([^`]+)`", line.split(" | ")[-1])]
    known = set(re.findall(r"(?:def|class) (\w+)|self\.(\w+)|^    (\w+): ", code, re.MULTILINE))
    unknown = {part for name in names if "/" not in name and not name.endswith(".py") for part in name.split(".")}
    unknown -= {each for found in known for each in found}
    assert not unknown
    assert len(names) > 60
