"""The recipes give what they show, in a folder where the sample was audited."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
NOTEBOOK = json.loads((ROOT / "docs" / "recipes" / "consumer_groups.ipynb").read_text(encoding="utf-8"))
# As on a busy machine: one of Arrow's threads releases a file of Python's so late that the program has ended.
RELEASED_LATE = """
import time
import pyarrow

class Late:
    def __init__(self, file):
        self.file = file
    def __getattr__(self, name):
        return getattr(self.file, name)
    def __del__(self):
        time.sleep(0.5)

file_of_python = pyarrow.PythonFile
pyarrow.PythonFile = lambda file: file_of_python(Late(file))
"""
COMMAND = ".venv/bin/groupscope"


def run_python(code, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def place(untouched_workplace):
    """With the command where set-up puts it, and what the page has it print."""
    command = untouched_workplace / COMMAND
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jobs.cli "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for call, file in re.findall(r"^groupscope (sql --print-\w+ duckdb) > (\w+\.sql)$", PAGE, flags=re.MULTILINE):
        with (untouched_workplace / file).open("w") as out:
            words = [str(command), *call.split()]
            subprocess.run(words, stdout=out, cwd=untouched_workplace, env=environment, timeout=300, check=True)
    return untouched_workplace


@pytest.mark.parametrize("before", ["", RELEASED_LATE], ids=["calm", "busy"])
@pytest.mark.parametrize(("code", "shown"), CODE, ids=[str(number) for number in range(len(CODE))])
def test_a_recipe_prints_what_the_page_shows(code, shown, place, before):
    printed = run_python(before + code, place)
    assert [line.rstrip() for line in printed.splitlines()] == [line.rstrip() for line in shown.splitlines()]


def test_the_page_has_a_recipe_for_duckdb_and_one_for_pandas():
    assert ["duckdb" in code for code, _ in CODE] == [True, False]
    assert "DeltaTable" in CODE[1][0]


def test_the_cells_of_the_notebook_find_the_rebalance(place):
    cells = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    message = "print([len(each) for each in (events, owners, lag)], events.trigger.tolist())"
    # By the sample's story: a group is made, then a member is killed; three partitions change or keep their owners.
    counts, triggers = run_python("\n".join([*cells, message]), place).split("] [")
    assert "group_created" in triggers and "member_left" in triggers
    assert all(int(count) > 0 for count in counts.strip("[").split(","))


def test_the_notebook_is_shipped_without_answers():
    assert NOTEBOOK["nbformat"] == 4
    assert [cell["id"] for cell in NOTEBOOK["cells"] if cell.get("outputs") or cell.get("execution_count")] == []
