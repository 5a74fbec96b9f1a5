"""What is built once is complete or absent, whoever dies or comes at the same time."""

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.spark.cache_folder import build_once, cache_folder

ROOT = Path(__file__).parents[3]


def test_a_build_that_fails_leaves_nothing_that_looks_complete(tmp_path):
    def half(folder):
        (folder / "first").touch()
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        build_once(tmp_path / "set", half)
    assert not (tmp_path / "set").exists()

    built = build_once(tmp_path / "set", lambda folder: (folder / "second").touch())
    assert [file.name for file in built.iterdir()] == ["second"]


def test_what_is_there_is_not_built_again(tmp_path):
    build_once(tmp_path / "set", lambda folder: (folder / "first").touch())
    built = build_once(tmp_path / "set", lambda folder: (folder / "second").touch())
    assert [file.name for file in built.iterdir()] == ["first"]


def test_what_is_no_longer_current_is_replaced_as_a_whole(tmp_path):
    build_once(tmp_path / "set", lambda folder: (folder / "old").touch())
    built = build_once(tmp_path / "set", lambda folder: (folder / "new").touch(), lambda folder: False)
    assert [file.name for file in built.iterdir()] == ["new"]


def test_of_two_processes_one_builds_and_the_other_waits_for_it(tmp_path):
    """The first builds until all of them have seen that nothing is there and ask for the lock."""
    program = """
import os, sys, time
from pathlib import Path
from jobs.spark import cache_folder
from jobs.spark.cache_folder import build_once
lock = cache_folder.fcntl.flock
def flock(*arguments):
    (Path(sys.argv[1]) / f"asks-{os.getpid()}").touch()
    lock(*arguments)
cache_folder.fcntl.flock = flock
def build(folder):
    with (Path(sys.argv[1]) / "builds").open("a") as log:
        log.write("built\\n")
    deadline = time.monotonic() + 60
    while len(list(Path(sys.argv[1]).glob("asks-*"))) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (folder / "done").touch()
assert (build_once(Path(sys.argv[1]) / "set", build) / "done").exists()
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    racers = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
    assert [racer.wait(timeout=120) for racer in racers] == [0] * 4
    assert (tmp_path / "builds").read_text() == "built\n"


def test_the_folder_is_the_one_that_the_environment_names(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("GROUPSCOPE_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "groupscope"
