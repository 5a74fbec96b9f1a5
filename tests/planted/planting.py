"""Puts one fault into a copy of the project and runs the tests of its area there, quick ones first, until one fails.

As a plugin of pytest in that copy, this module also keeps the order of an area's tests: a run of all tests begins with
those that take longest, which is the wrong order to find one that fails."""

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).with_name("faults.toml")
NOT_COPIED = {".git", ".venv", "dist", "build", "warehouse", "report", "site"}
FIRST = "PLANTED_FIRST"
QUICK = "not spark and not broker and not browser and not soak"
# What pytest ends with, if a test failed and if all passed. With any other code it could not run them.
FAILED, PASSED = 1, 0


class Refused(Exception):
    """A fault that cannot be planted."""


@dataclass(frozen=True)
class Fault:
    area: str
    name: str
    file: str
    old: str
    new: str
    # The test that caught it when it was recorded; empty: none did.
    caught_by: str = ""
    # Where `old` begins. None: at the only place that has it.
    at: int | None = None

    def plant(self, text: str) -> str:
        at = self.at
        if at is None:
            if (count := text.count(self.old)) != 1:
                raise Refused(f"{self.name}: {self.file} has its old text {count} times, once was expected")
            at = text.index(self.old)
        changed = text[:at] + self.new + text[at + len(self.old) :]
        if self.file.endswith(".py"):
            try:
                compile(changed, self.file, "exec")
            except SyntaxError as error:
                raise Refused(f"{self.name}: {self.file} does not compile with it: {error}") from None
        return changed


@dataclass(frozen=True)
class Area:
    name: str
    # Patterns of test files and folders, from the most telling on; what matches nothing is left out.
    tests: list[str]
    # Which of them run, as pytest's -m.
    marks: str = QUICK
    # Patterns of the files in which faults are drawn.
    code: tuple[str, ...] = ()

    def paths(self, root: Path) -> list[str]:
        found = [str(path.relative_to(root)) for pattern in self.tests for path in sorted(root.glob(pattern))]
        return list(dict.fromkeys(path for path in found if not fnmatch.fnmatch(path, "*__pycache__*")))


@dataclass(frozen=True)
class Outcome:
    """`word`: caught, missed, timed out (which counts as missed) or invalid (pytest could not run the tests)."""

    word: str
    seconds: float
    # The test that failed, or that ran last; for an invalid fault, the error.
    test: str = ""


def read(path: Path = LISTED) -> tuple[dict[str, Area], list[Fault], list[dict[str, str]]]:
    """Areas, planted faults, and drawn ones that change nothing."""
    lists = tomllib.loads(path.read_text())
    areas = {name: Area(name, **{**each, "code": tuple(each.get("code", ()))}) for name, each in lists["areas"].items()}
    faults = [Fault(area, *each) for area, some in lists["faults"].items() for each in some]
    return areas, faults, lists.get("unchanged", [])


class Copy:
    """A copy of the project of which one file at a time is changed. Other files are links to those of the project."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.root, self.folder, self.base = root, folder / "project", folder / "tests"
        shutil.copytree(root, self.folder, symlinks=True, copy_function=link, ignore=self.left_out)
        (self.folder / ".venv").symlink_to((root / ".venv").resolve())

    def left_out(self, folder: str, names: list[str]) -> set[str]:
        return NOT_COPIED & {*names} if Path(folder) == self.root else set()

    def run(self, fault: Fault, area: Area, seconds: float, seed: str) -> Outcome:
        place = self.folder / fault.file
        changed = fault.plant(place.read_text())
        # Never into the file itself, which is the project's too.
        place.unlink()
        try:
            place.write_text(changed)
            return self.tested(area.paths(self.root), area, seconds, seed, fault.caught_by)
        finally:
            place.unlink()
            link(self.root / fault.file, place)

    def tested(
        self, tests: list[str], area: Area, seconds: float, seed: str, first: str = "", stop: str = "-x"
    ) -> Outcome:
        command = [sys.executable, "-m", "pytest", stop, "-v", "--tb=line", "--color=no", "-p", "no:cacheprovider"]
        command += ["-p", "tests.planted.planting", "-m", area.marks, f"--basetemp={self.base}", *tests]
        own = {"PYTHONPATH": str(self.folder), "GROUPSCOPE_SEED": seed, FIRST: first}
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        log, start = self.folder.with_name("log"), time.monotonic()
        with log.open("w") as output:
            running = subprocess.Popen(
                command, cwd=self.folder, env=given | own, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code: int | None = running.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
            # Servers that a test left running too.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        return outcome(code, log.read_text(errors="replace"), time.monotonic() - start)


def outcome(code: int | None, output: str, seconds: float) -> Outcome:
    begun = re.findall(r"^(tests/\S+?\.py::.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b.*)?$", output, re.MULTILINE)
    last = begun[-1][0].strip() if begun else ""
    failed = next((test for test, how in begun if how in ("FAILED", "ERROR")), None)
    if code is None:
        return Outcome("timed out", seconds, last)
    if code == PASSED:
        return Outcome("missed", seconds)
    if code == FAILED and failed:
        return Outcome("caught", seconds, failed)
    if code < 0:
        return Outcome("caught", seconds, last)
    errors = re.findall(r"^E +(.*)|^(?:\S+:\d+: )?(\w+(?:Error|Exception)\b.*)", output, re.MULTILINE)
    return Outcome("invalid", seconds, "".join(errors[-1]) if errors else output.strip().rpartition("\n")[2])


def link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Temporary files are on another disk.
        shutil.copy2(source, target)


def pytest_collection_finish(session: pytest.Session) -> None:
    from tests.durations import known_seconds

    seconds, first = known_seconds(), os.environ.get(FIRST)

    def place(item: pytest.Item) -> tuple[object, ...]:
        file = item.nodeid.partition("::")[0]
        of = next((number for number, each in enumerate(session.config.args) if file.startswith(each)), 0)
        return item.nodeid != first, of, seconds.get(file, 1.0), file

    session.items.sort(key=place)
