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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).with_name("faults.toml")
NOT_COPIED = {".git", ".venv", "dist", "build", "warehouse", "report", "site"}
FIRST, ABOUT = "PLANTED_FIRST", "PLANTED_ABOUT"
# Tests of a page that is made of the code: any change turns them red, so that they prove nothing.
OF_PAGES = "is_current"
# What a file of tests takes at most that runs before all others.
QUICK_SECONDS = 20
QUICK = "not spark and not broker and not browser and not soak"
# What pytest ends with: all passed, one failed, no test is left. With any other code it could not run them.
PASSED, FAILED, NOTHING = 0, 1, 5


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
    """A copy of the project of which one file at a time is changed."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.running: subprocess.Popen[bytes] | None = None
        self.root, self.folder, self.base = root, folder / "project", folder / "tests"
        shutil.copytree(root, self.folder, symlinks=True, ignore=self.left_out)
        (self.folder / ".venv").symlink_to((root / ".venv").resolve())

    def stop(self) -> None:
        """Servers that a test left running too."""
        with suppress(ProcessLookupError):
            if self.running is not None:
                os.killpg(self.running.pid, signal.SIGKILL)

    def left_out(self, folder: str, names: list[str]) -> set[str]:
        return NOT_COPIED & {*names} if Path(folder) == self.root else set()

    def run(self, fault: Fault, area: Area, seconds: float, seed: str) -> Outcome:
        place = self.folder / fault.file
        text, times = place.read_text(), place.stat()
        changed = fault.plant(text)
        try:
            place.write_text(changed)
            near, before = nearest(fault, area, self.root), time.monotonic()
            wanted = {FIRST: fault.caught_by, ABOUT: Path(fault.file).stem}
            if near and (outcome := self.tested(near, area, seconds, seed, wanted)).word != "missed":
                return outcome
            spent = time.monotonic() - before
            rest = [*area.paths(self.root), *(f"--ignore={path}" for path in near)]
            outcome = self.tested(rest, area, seconds - spent, seed, wanted)
            return replace(outcome, seconds=outcome.seconds + spent)
        finally:
            place.write_text(text)
            # Python takes what it compiled before for that of the same file.
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))

    def tested(
        self, tests: list[str], area: Area, seconds: float, seed: str, wanted: Mapping[str, str] = MappingProxyType({})
    ) -> Outcome:
        command = [sys.executable, "-m", "pytest", "-x", "-v", "--tb=line", "--color=no", "-p", "no:cacheprovider"]
        command += ["-p", "tests.planted.planting", "-m", area.marks, "-k", f"not {OF_PAGES}"]
        command += [f"--basetemp={self.base}", *tests]
        own = {"PYTHONPATH": str(self.folder), "GROUPSCOPE_SEED": seed, **wanted}
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        log, start = self.folder.with_name("log"), time.monotonic()
        with log.open("w") as output:
            self.running = running = subprocess.Popen(
                command, cwd=self.folder, env=given | own, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code: int | None = running.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
            self.stop()
            running.wait()
            self.running = None
        return outcome(code, log.read_text(errors="replace"), time.monotonic() - start)


def outcome(code: int | None, output: str, seconds: float) -> Outcome:
    begun = re.findall(r"^(tests/\S+?\.py::.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b.*)?$", output, re.MULTILINE)
    last = begun[-1][0].strip() if begun else ""
    failed = next((test for test, how in begun if how in ("FAILED", "ERROR")), None)
    if code is None:
        return Outcome("timed out", seconds, last)
    if code in (PASSED, NOTHING):
        return Outcome("missed", seconds)
    if code == FAILED and failed:
        return Outcome("caught", seconds, failed)
    if code < 0:
        return Outcome("caught", seconds, last)
    errors = re.findall(r"^E +(.*)|^(?:\S+:\d+: )?(\w+(?:Error|Exception)\b.*)", output, re.MULTILINE)
    return Outcome("invalid", seconds, "".join(errors[-1]) if errors else output.strip().rpartition("\n")[2])


def nearest(fault: Fault, area: Area, root: Path) -> list[str]:
    """What of the area's tests runs first, alone: to collect all of them takes longer than most tests."""
    from tests.lanes import expected_seconds

    paths = [Path(path) for path in area.paths(root)]
    if fault.caught_by and (root / (file := fault.caught_by.partition("::")[0])).exists():
        return [file]
    # The quick ones in the folder of the file's own name, or in the next one above it; else the most telling ones.
    for near in ("tests" / folder for folder in Path(fault.file).parents[:-1]):
        own = [near] if any(near.is_relative_to(path) for path in paths) else []
        if (root / near).exists() and (own := own or [path for path in paths if path.is_relative_to(near)]):
            files = [file for each in own for file in [root / each, *sorted((root / each).rglob("test_*.py"))]]
            names = [str(file.relative_to(root)) for file in files if file.suffix]
            return [name for name in names if expected_seconds(name, root) < QUICK_SECONDS]
    return [str(path.relative_to(root)) for path in sorted(root.glob(area.tests[0]))]


def pytest_collection_finish(session: pytest.Session) -> None:
    from tests.lanes import expected_seconds

    first, about = os.environ.get(FIRST), os.environ.get(ABOUT)

    def place(item: pytest.Item) -> tuple[object, ...]:
        file = item.nodeid.partition("::")[0]
        of = next((number for number, each in enumerate(session.config.args) if file.startswith(each)), 0)
        is_about = any(about in mark.args for mark in item.iter_markers("about"))
        return item.nodeid != first, not is_about, of, expected_seconds(file), file

    session.items.sort(key=place)
