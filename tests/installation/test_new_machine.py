"""On a new machine: an empty home, an empty cache of pip, no environment. How long set-up takes, what each part of it
takes, and that what it brings works. It needs the network, and is printed: run it with `-s` on an idle machine."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.installation.local_alone import ROOT, Installed, check_commands

pytestmark = pytest.mark.soak
# Seconds by the clock on two idle cores.
COLD, WARM, LOCAL, FIRST_START, LATER_START = 150, 75, 60, 20, 1.5
LARGEST_BYTES = 500_000_000
OTHER_PYTHONS = ("3.13.0",)


def tree(folder: Path) -> Path:
    """What a clone has, with what is changed and not committed, in a path with a blank."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            place = folder / "new machine" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)
    return folder / "new machine"


def new_home(folder: Path) -> dict[str, str]:
    folder.mkdir()
    left_out = {"PYTHONPATH", "GROUPSCOPE_CACHE", "PIP_CACHE_DIR"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | {"HOME": str(folder)}


def timed(what: str, limit: float, command: list[object], cwd: Path, environment: dict[str, str]) -> str:
    """What it prints. The limit holds for an idle machine: other programs that want a processor stretch it."""
    load, used, begin = os.getloadavg()[0], os.times(), time.monotonic()
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=3000
    )
    seconds, now = time.monotonic() - begin, os.times()
    processor = now.children_user + now.children_system - used.children_user - used.children_system
    said = [line for line in done.stderr.splitlines() if line.startswith("set-up: done")]
    figures = f"{seconds:.1f} s by the clock, {processor:.1f} s of processors, load {load:.1f} before"
    print(f"\n{what}: {figures}", *said, sep="\n  ")  # noqa: T201
    assert done.returncode == 0, done.stderr
    assert seconds < limit * max(1.0, (load + 2) / 2), what
    return done.stdout


def test_make_audit_on_a_new_machine(tmp_path: Path) -> None:
    root, home = tree(tmp_path), new_home(tmp_path / "home")
    page = timed("make audit, cold", COLD, ["make", "audit"], root, home)
    assert "FINDINGS, exit code 0 because of --fail-on never, else 20: 4 critical" in page
    python = root / ".venv" / "bin" / "python"
    assert "No broken requirements" in subprocess.run(
        [python, "-m", "pip", "check"], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    assert not list(root.glob(".venv/lib/*/site-packages/pytest"))
    for made in (".venv", "warehouse", "report"):
        shutil.rmtree(root / made)
    timed("make audit, warm: the caches of pip and Groupscope are there", WARM, ["make", "audit"], root, home)
    timed("make product, when all is there", 10, ["make", "product"], root, home)


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_the_local_engine_alone_by_pip(python: str, tmp_path: Path) -> None:
    if python in OTHER_PYTHONS:
        python = str(Path("~/.pyenv/versions").expanduser() / python / "bin" / "python3")
        if not Path(python).is_file():
            pytest.skip(f"there is no {python}")
    made = tmp_path / "made"
    made.mkdir()
    dist("local", made)
    home = new_home(tmp_path / "home")
    environment = made / "environment"
    line = (
        f"'{python}' -m venv '{environment}' && '{environment}/bin/pip' install -q --no-deps -r requirements-local.txt"
    )
    timed(f"the local engine by pip, cold, {python}", LOCAL, ["sh", "-c", line], made, home)
    check_commands(Installed(tmp_path / "user", environment / "bin" / "groupscope"))


def test_the_executable_file(tmp_path: Path) -> None:
    file = dist("executable", tmp_path)
    print(f"\nthe executable file: {file.stat().st_size:,} bytes")  # noqa: T201
    assert file.stat().st_size < LARGEST_BYTES
    home = new_home(tmp_path / "home")
    timed("its first start", FIRST_START, [file, "--version"], tmp_path, home)
    for _ in range(3):
        timed("a later start", LATER_START, [file, "--version"], tmp_path, home)
    # By its Python, since there is nothing on the PATH.
    check_commands(Installed(tmp_path / "user", sys._base_executable, file))
    for version in OTHER_PYTHONS:
        other = Path("~/.pyenv/versions").expanduser() / version / "bin" / "python3"
        if other.is_file():
            done = subprocess.run([other, file, "--version"], capture_output=True, text=True, check=False)
            assert (done.returncode, len(done.stderr.splitlines())) == (2, 1) and "needs Python 3.11" in done.stderr
    unwritable = {**home, "GROUPSCOPE_CACHE": "/proc/nowhere"}
    done = subprocess.run([file, "--version"], env=unwritable, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1) and "GROUPSCOPE_CACHE" in done.stderr


def dist(form: str, target: Path) -> Path:
    """Its forms are made in `dist/` of the tree; here in a folder of the test."""
    program = (
        f"import runpy, sys; from pathlib import Path; print(runpy.run_path(sys.argv[1])[{form!r}](Path(sys.argv[2])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, ROOT / ".ci" / "dist.py", target],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return Path(done.stdout.splitlines()[-1])
