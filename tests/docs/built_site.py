"""The site of docs/ as `make docs` builds it, made once for all tests that look at it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.once_a_run import once_a_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    return once_a_run(tmp_path_factory, "site", build)


def build(folder):
    """The Makefile's own command, into another folder: warnings fail it."""
    (words,) = re.findall(
        r"^\t\$\(BIN\)/python (-m sphinx .+) docs site$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    command = [sys.executable, *shlex.split(words), "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
