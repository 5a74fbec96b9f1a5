"""The ledger counts lines as `wc -l` does, statements, comments, and short functions that one place names."""

import runpy
import subprocess
from pathlib import Path

import pytest

LEDGER = runpy.run_path(str(Path(__file__).parents[1] / ".ci" / "ledger.py"))
SOURCE = '''"""A module."""


# What it does.
def once(x):
    return x


def twice(x):
    """Says more
    in two lines."""
    return once(x)  # and not here


def long(x):
    x += 1
    x += 2
    x += 3
    x += 4
    return twice(twice(x))
'''


@pytest.fixture
def tree(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in {
        "jobs/a/x.py": SOURCE, "jobs/b/y.py": "from jobs.a.x import long\nlong(1)\n", "tests/test_x.py": "once(1)\n",
        "jobs/b/z.sql": "SELECT\n1\n", ".gitignore": "hidden.py\n", "jobs/hidden.py": "1\n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_each_folder_is_counted_and_what_git_ignores_is_not(tree):
    counted = LEDGER["ledger"](tree)
    lines = int(subprocess.run(["wc", "-l"], input=SOURCE, capture_output=True, text=True, check=True).stdout)
    expected = {"files": 1, "lines": lines, "statements": 12, "comment lines": 4, "called once": 1}
    assert counted["jobs/a"] == expected
    assert counted["product"] == expected | {"files": 2, "lines": lines + 2, "statements": 14}
    assert (counted["tests"]["lines"], counted["SQL of the product"]["lines"]) == (1, 2)


def test_a_page_says_what_has_changed(tree):
    now = LEDGER["ledger"](tree)
    page = LEDGER["page"](now, {"jobs/a": {"lines": 10}, "jobs/gone": {"lines": 7}} | {"jobs/b": now["jobs/b"]})
    changes = {line.split()[0]: line.split()[-1] for line in page.splitlines()}
    assert (changes["jobs/a"], changes["jobs/gone"], changes["jobs/b"]) == ("+10", "-7", "2")
