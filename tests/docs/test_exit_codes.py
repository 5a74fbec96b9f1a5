"""The cases of docs/exit_codes.md: each command ends with the code that the page says, and prints the line."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse_marker import MARKER
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from tests.builders.warehouses.version_2 import unpacked
from tests.docs.pages import ROOT
from tests.runs.refused import fill, mounted
from tests.runs.typed_here import typed_here

ROW = re.compile(r"^\| ([^|]+) \| `groupscope ([^`]+)` \| (\d+) \| `([^`]+)` \|$", re.MULTILINE)
ROOM = str(8 << 20)
RECORDS = [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3)]
# How many of them are started as users start them; the others run in this process, which has loaded what they need.
NUM_SPAWNED = 1
WAITS, INTERRUPTED = "waiting for", 130


class Case(NamedTuple):
    about: str
    words: list[str]
    code: int
    line: str


def cases():
    rows = ROW.findall((ROOT / "docs" / "exit_codes.md").read_text())
    return [Case(about, shlex.split(command), int(code), line) for about, command, code, line in rows]


class Desk:
    """The places that the page names, each made when a command needs it: some are copies of `w`."""

    def __init__(self, folder, sample, stack):
        self.folder, self.sample, self.stack = folder, sample, stack

    def make(self, name):
        make = getattr(self, f"make_{name.partition('/')[0]}", None)
        if make is not None and not (self.folder / name.partition("/")[0]).exists():
            make()

    def place(self, name):
        return self.folder / name

    def copy(self, to):
        shutil.copytree(self.place("w"), self.place(to))
        return self.place(to)

    def make_log(self):
        segment(self.place("log"), batch(10, RECORDS), partition=3)

    def make_more(self):
        segment(self.place("more"), batch(10, RECORDS) + batch(20, RECORDS), partition=3)

    def make_other(self):
        segment(self.place("other"), batch(10, [(COMMIT_KEY, COMMIT_V3[:-1] + b"\x00"), RECORDS[1]]), partition=3)

    def make_empty(self):
        segment(self.place("empty"), b"", partition=3)

    def make_packed(self):
        segment(self.place("packed"), batch(10, RECORDS), partition=3)
        (log,) = self.place("packed").glob("*/*.log")
        log.rename(f"{log}.gz")

    def make_named(self):
        segment(self.place("named"), batch(10, RECORDS), partition=3)
        self.place("named/meta.properties").write_text("version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\nnode.id=1\n")

    def make_foreign(self):
        self.place("foreign").mkdir()
        line = {"captured_at": 1_700_000_000_000, "cluster_id": "BBBBBBBBBBBBBBBBBBBBBA", "topics": []}
        self.place("foreign/snapshots.jsonl").write_text(json.dumps(line) + "\n")

    def make_damaged(self):
        content = bytearray(batch(10, RECORDS) + batch(20, RECORDS) + batch(30, RECORDS))
        content[len(content) // 2] ^= 0xFF
        segment(self.place("damaged"), bytes(content), partition=3)

    def make_sample(self):
        shutil.copytree(self.sample, self.place("sample"))
        shutil.copy(ROOT / "conf" / "sample.toml", self.place("sample.toml"))

    def make_broken(self):
        # Of a table that has no rows, where there must be some.
        suite = {"name": "mine", "meta": {"table": "transactions", "rows_due": ["offset_commits.num_rows"]},
                 "expectations": [{"type": "expect_column_values_to_be_between",
                                   "kwargs": {"column": "num_rows", "min_value": 0}}]}  # fmt: skip
        (self.place("broken") / "expectations").mkdir(parents=True)
        (self.place("broken") / "groupscope.toml").write_text("")
        (self.place("broken") / "expectations" / "mine.json").write_text(json.dumps(suite))

    def make_wrong(self):
        self.place("wrong").mkdir()
        (self.place("wrong") / "groupscope.toml").write_text("[gate]\nmax_source_age = 3\n")

    def make_busy(self):
        lock = LocalPlace(self.copy("busy")).lock("audit")
        self.stack.enter_context(lock.hold(0, print))

    def make_full(self):
        disk = self.stack.enter_context(mounted(self.place("full"), ROOM))
        self.copy("full/w")
        fill(disk / "filler", shutil.disk_usage(disk).free)

    def make_locked(self):
        disk = self.stack.enter_context(mounted(self.place("locked"), ROOM))
        self.copy("locked/w")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    def make_newer(self):
        (self.copy("newer") / MARKER).write_text('{"contract_version": 99}')

    def make_older(self):
        unpacked("kept", self.folder / "packed").rename(self.place("older"))

    def make_cut(self):
        *_, newest = sorted((self.copy("cut") / "runs" / "_delta_log").glob("*.json"))
        newest.write_bytes(newest.read_bytes()[:-20])

    def answer(self, case, *, is_spawned):
        for word in case.words:
            self.make(word.removeprefix("segments:"))
        if case.code == INTERRUPTED:
            return self.interrupted(case.words)
        if not is_spawned:
            done = typed_here(case.words, self.folder)
            return done.returncode, done.stdout + done.stderr
        with self.spawned(case.words) as process:
            said, _ = process.communicate(timeout=120)
            return process.returncode, said

    def interrupted(self, words):
        with self.spawned(words) as process:
            said = next(line for line in process.stdout if WAITS in line)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=120)
            return process.returncode, said + rest

    @contextmanager
    def spawned(self, words):
        command = [sys.executable, "-m", "jobs.cli", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            yield process


def says(said, line):
    """Widths are the page's own; an ellipsis stands for anything."""
    expected = ".*".join(map(re.escape, line.split("…")))
    return any(re.fullmatch(expected, " ".join(each.split())) for each in said.splitlines())


def test_each_case_of_the_page_ends_with_its_code_and_says_its_line(audited_sample, tmp_path, seed):
    listed = cases()
    spawned = random.Random(seed).sample(range(len(listed)), NUM_SPAWNED)
    wrong = []
    with ExitStack() as stack:
        desk = Desk(tmp_path, audited_sample, stack)
        for number, case in enumerate(listed):
            code, said = desk.answer(case, is_spawned=number in spawned)
            if (code, says(said, case.line)) != (case.code, True):
                wrong.append((case, code, said[-2_000:]))
    assert wrong == []


def test_the_page_has_a_case_of_each_code_but_that_of_our_own_errors():
    listed = cases()
    assert {case.code for case in listed} == {0, 2, 20, 21, 22, 23, INTERRUPTED}
    assert len({case.about for case in listed}) == len(listed) > 20


@pytest.mark.parametrize(("line", "expected"), [("a … c", True), ("a b c", True), ("a … d", False), ("b c", False)])
def test_a_line_is_found_in_what_was_said(line, expected):
    assert says("first\na    b c\n", line) is expected
