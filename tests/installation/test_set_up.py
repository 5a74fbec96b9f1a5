"""What set-up does, and what it says and leaves when something is wrong: one line, and the next call mends it."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.installation.small_project import ROOT, SmallProject, wheel_of
from tests.runs.without_rights import SETPRIV

NEW = "set-up: packages to install into .venv: 1; a first download takes a minute or two"
GOES_ON = "; the next call goes on from here"


@pytest.fixture
def project(tmp_path: Path):
    result = SmallProject(tmp_path)
    yield result
    result.index.close()


def test_neither_set_up_removes_what_the_other_installed_and_a_failed_one_is_mended_by_the_next(project) -> None:
    """In a folder with blanks in its path."""
    project.index.cut = {"alpha"}
    code, (first, why) = project.set_up("product")
    assert (code, first) == (1, NEW)
    # By newer releases of pip, and by older ones.
    assert re.match(
        "set-up: packages: (the network failed: |alpha==1.0 has not the hash that is locked: the download was cut)", why
    )
    assert why.endswith(GOES_ON)
    assert not project.has("alpha")
    project.index.cut = set()
    assert project.set_up("product") == (0, [NEW])
    assert project.has("alpha", "backend") and not project.has("beta")
    # Nothing is asked of an index again.
    project.index.asked.clear()
    assert project.set_up("product") == (0, []) and project.index.asked == []
    assert project.set_up("all") == (0, [NEW])
    assert project.has("alpha", "beta") and "alpha-1.0-py3-none-any.whl" not in project.index.asked
    assert project.set_up("product") == (0, []) and project.has("beta")
    # A lock that changed brings what is new in it.
    files = [project.index.folder / "alpha-1.0-py3-none-any.whl", wheel_of("gamma", project.index.folder)]
    project.lock("requirements.lock", *files)
    assert project.set_up("product")[0] == 0 and project.has("alpha", "beta", "gamma")
    # Where no index answers, the line says so.
    project.lock("requirements.lock", *files, wheel_of("delta", project.index.folder))
    code, lines = project.set_up("product", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="1")
    assert code == 1 and lines[1].startswith("set-up: packages: the network failed: ") and len(lines) == 2
    # A package without a wheel for this Python: nothing is compiled.
    (project.index.folder / "delta-1.0-py3-none-any.whl").rename(project.index.folder / "delta-1.0.tar.gz")
    code, (_, why) = project.set_up("product")
    assert (code, why) == (1, f"set-up: packages: no ready-built delta==1.0 for this Python and machine{GOES_ON}")
    # What a part says that fails is one line.
    (project.folder / "jobs" / "spark" / "jars.py").write_text("raise RuntimeError('no jars today')")
    project.lock("requirements.lock", *files)
    assert project.set_up("product")[1][-1] == f"set-up: jars: RuntimeError: no jars today{GOES_ON}"


def test_an_environment_that_a_killed_set_up_left_is_made_anew_and_of_two_set_ups_one_waits(project) -> None:
    project.index.cut, project.index.is_stalling = {"alpha"}, True
    killed = project.start("product")
    assert project.index.stalled.wait(120)
    waiting = project.start("product")
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == "set-up: another set-up of this folder is running; waiting for it\n"
    project.index.cut = set()
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    lines = project.said(waiting)
    anew = "set-up: an earlier set-up was ended before it was done; making .venv anew"
    assert (waiting.returncode, lines) == (0, [anew, NEW])
    assert project.has("alpha", "backend")


def test_a_home_that_cannot_be_written_is_named_before_anything_is_downloaded(project) -> None:
    project.home.chmod(0o555)
    code, (line,) = project.set_up("product", *SETPRIV)
    cache = f"{project.home}/.cache/groupscope"
    why = f"cannot write to {cache}: Permission denied; let GROUPSCOPE_CACHE name a folder that can be written"
    assert (code, line) == (1, f"set-up: {why}") and project.index.asked == []
    other = str(project.home.with_name("other cache"))
    assert project.set_up("product", *SETPRIV, GROUPSCOPE_CACHE=other)[0] == 0 and project.has("alpha")


OLD = Path.home() / ".pyenv" / "versions" / "3.10.13" / "bin" / "python3.10"


@pytest.mark.parametrize("old", ["false", str(OLD)])
def test_with_an_old_python_alone_make_says_which_one_is_needed(old: str, tmp_path: Path) -> None:
    """The second only where there is one."""
    command = ["make", "--silent", "--file", str(ROOT / "Makefile"), "setup", f"PYTHONS={old}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    line, failed = done.stderr.splitlines()
    assert line == "no Python 3.11 or later on the PATH: name one by `make PYTHON=…`"
    assert "Error 1" in failed and done.returncode == 2 and not list(tmp_path.iterdir())
