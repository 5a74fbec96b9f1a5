"""Loops are compiled once a host, for every checkout and zip that holds them, and again when anything about them
changes."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from jobs.spark import compiled_loops
from jobs.spark.compiled_loops import digest, folder_of, keep_compiled_loops, kept
from tests.builders.loops import sample_loops
from udfs.arrays.compiled import Loop

ROOT = Path(__file__).parents[3]
# Prints the sum, whether the code came from the folder, and what numba loaded.
PROGRAM = """
import gc, json, sys
import numpy as np
from jobs.spark.compiled_loops import keep_compiled_loops
from sample_loops import parts, weight
keep_compiled_loops()
is_lazy = "numba" not in sys.modules
found = weight(np.frombuffer(b"abc", np.uint8))
stats = weight.code.stats
assert len(gc.get_objects()) < gc.get_freeze_count() / 10
whole, rest = parts(3)
assert (whole.tolist(), rest.tolist()) == ([0, 1, 2], [1, 2])
try:
    parts(-1)
except ValueError as error:
    assert str(error) == "a size was expected"
print(json.dumps([found, is_lazy, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""
WEIGHT_OF_ABC = sum(10 * byte for byte in b"abc")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path / "cache"))
    compiled_loops.say_once.cache_clear()
    yield tmp_path / "cache" / "compiled_loops"
    compiled_loops.say_once.cache_clear()


def started(place, **environment):
    """In a process that finds the loops in this place."""
    path = os.pathsep.join((str(place), str(ROOT)))
    variables = os.environ | {"PYTHONPATH": path} | environment
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process):
    reported, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return json.loads(reported), said


def checkout(folder):
    folder.mkdir()
    (folder / "sample_loops.py").write_text(Path(sample_loops.__file__).read_text())
    return folder


def test_two_processes_at_once_compile_once_and_need_no_compiler_of_the_system(cache, tmp_path):
    place = checkout(tmp_path / "a")
    racers = [started(place, PATH=str(tmp_path / "empty"), CC="/nowhere") for _ in range(2)]
    assert [answer(racer)[0][:2] for racer in racers] == [[WEIGHT_OF_ABC, True]] * 2
    folders = {each.name: each.stat().st_ino for each in cache.iterdir() if each.is_dir()}
    assert sorted(name.partition("-")[0] for name in folders) == ["sample_loops.parts", "sample_loops.weight"]
    # Of another checkout, and from a zip, as executors get it.
    with zipfile.ZipFile(tmp_path / "loops.zip", "w") as archive:
        archive.write(place / "sample_loops.py", "sample_loops.py")
    for other in (checkout(tmp_path / "b"), tmp_path / "loops.zip"):
        assert answer(started(other))[0] == [WEIGHT_OF_ABC, True, 1, 0]
    assert {each.name: each.stat().st_ino for each in cache.iterdir() if each.is_dir()} == folders


def test_where_nothing_can_be_kept_a_line_says_so_and_loops_are_compiled(tmp_path):
    (tmp_path / "file").touch()
    result, said = answer(started(checkout(tmp_path / "a"), GROUPSCOPE_CACHE=str(tmp_path / "file")))
    assert result == [WEIGHT_OF_ABC, True, 0, 1]
    (line,) = said.splitlines()
    assert line.startswith("groupscope: compiled loops cannot be kept, each process compiles its own: ")
    assert str(tmp_path / "file") in line


def test_one_line_for_all_loops(cache, tmp_path, capsys):
    cache.parent.touch()
    for loop in (sample_loops.weight, sample_loops.write_at):
        assert kept(loop) is not None
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_damaged_code_is_compiled_again(cache):
    kept(sample_loops.weight)
    for file in folder_of(sample_loops.weight).glob("*.nbc"):
        file.write_bytes(b"")
    assert kept(sample_loops.weight)(np.frombuffer(b"abc", np.uint8)) == WEIGHT_OF_ABC
    # By the next process, for all.
    assert not folder_of(sample_loops.weight).exists()


def test_what_a_loop_computes_with_is_in_the_name_of_its_folder(monkeypatch):
    known = {digest(sample_loops.weight), digest(sample_loops.write_at)}
    assert known == {digest(sample_loops.weight), digest(sample_loops.write_at)}
    assert len(known) == 2
    step = sample_loops.weighted
    changes = [
        # Of a step, and a number that only the step names.
        lambda patch: patch.setattr(sample_loops, "weighted", Loop(lambda byte: byte + 1, ())),
        lambda patch: patch.setattr(step, "py_func", sample_loops.write_at.py_func),
        lambda patch: patch.setitem(step.py_func.__globals__, "WEIGHT", 4),
        lambda patch: patch.setitem(step.py_func.__globals__, "TABLE", np.arange(256)),
        lambda patch: patch.setattr(sample_loops.weight, "signatures", ("i8(u1[::1])",)),
        lambda patch: patch.setenv("NUMBA_BOUNDSCHECK", "1"),
        lambda patch: patch.setattr(compiled_loops, "machine", lambda: ("another processor",)),
    ]
    for change in changes:
        with monkeypatch.context() as patch:
            change(patch)
            known.add(digest(sample_loops.weight))
    assert len(known) == 2 + len(changes)


def test_a_loop_names_nothing_whose_change_would_go_unseen(monkeypatch):
    monkeypatch.setitem(sample_loops.weighted.py_func.__globals__, "WEIGHT", {"a": 1})
    with pytest.raises(TypeError, match=r"a loop names \{'a': 1\}: only loops, numbers, texts, arrays"):
        digest(sample_loops.weight)


def test_what_nobody_used_for_a_month_is_removed(cache):
    for name, days in (("old", 31), ("young", 29)):
        (cache / name).mkdir(parents=True)
        (cache / f".{name}.lock").touch()
        for each in (cache / name, cache / f".{name}.lock"):
            os.utime(each, (time.time() - days * 86_400,) * 2)
    kept(sample_loops.weight)
    assert {each.name for each in cache.iterdir() if "weight" not in each.name} == {"young", ".young.lock"}
    used = folder_of(sample_loops.weight)
    os.utime(used, (0, 0))
    kept(sample_loops.weight)
    assert used.stat().st_mtime > time.time() - 60


def test_a_process_without_the_compiler_runs_plain_loops(cache, tmp_path):
    program = PROGRAM.partition("stats =")[0] + "print(json.dumps([found, weight.code is weight.py_func]))"
    path = os.pathsep.join((str(checkout(tmp_path / "a")), str(ROOT)))
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"}
    process = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(process.stdout) == [WEIGHT_OF_ABC, True]


def own_loops():
    compiled_loops.import_all()
    return [loop for loop in Loop.ALL if loop.__module__.startswith("udfs.")]


def check_set_up(loops):
    """It compiles all that are missing, and then nothing."""
    subprocess.run([sys.executable, "-m", "jobs.spark.compiled_loops"], cwd=ROOT, check=True)
    assert all(folder_of(loop).is_dir() for loop in loops)
    program = "import sys; from jobs.spark.compiled_loops import main; main(); print('numba' in sys.modules)"
    again = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert again.stdout == "False\n"


def test_set_up_compiles_the_loops_that_are_missing_and_then_nothing(tmp_path, monkeypatch, rng):
    """The first and some other one are missing: all of them take half a minute."""
    loops = own_loops()
    here = {loop: folder_of(loop) for loop in loops}
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path / "cache"))
    missing = {loops[0].name, loops[rng.integers(1, len(loops))].name}
    for loop in loops:
        # Where set-up has not run, more are missing.
        if loop.name not in missing and here[loop].is_dir():
            shutil.copytree(here[loop], folder_of(loop))
    check_set_up(loops)


@pytest.mark.soak
def test_set_up_compiles_every_loop_and_then_nothing(cache):
    check_set_up(own_loops())


def test_keeping_loops_loads_no_compiler():
    keep_compiled_loops()
    program = (
        "import sys; from jobs.spark.compiled_loops import *; keep_compiled_loops(); print({*HEAVY} & {*sys.modules})"
    )
    process = subprocess.run(
        [sys.executable, "-c", program.replace("HEAVY", "('numba', 'llvmlite', 'numpy')")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == "set()\n"
