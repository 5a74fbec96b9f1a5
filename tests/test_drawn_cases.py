"""What a run draws of tests with many cases, and what it leaves to `make soak`."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN, BOTH = "not soak", "soak or not soak"
CONFTEST = """
from tests.drawn_cases import draw_order, is_order_drawn, leave_others_to_soak

def pytest_collection_modifyitems(config, items):
    leave_others_to_soak(config, items)
    if is_order_drawn():
        draw_order(items)
"""
# What each of many runs of pytest would collect, each in a fork: to start one takes far longer.
PROGRAM = """
import contextlib, io, json, os, sys
import pytest

for words, seed in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.environ["GROUPSCOPE_DRAW"] = str(seed)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *words])
        assert code == 0, said.getvalue()
        print(json.dumps([line for line in said.getvalue().splitlines() if "::" in line]), flush=True)
        os._exit(0)
    os.wait()
"""
TESTS = """
import pytest

pytestmark = pytest.mark.drawn_parameter("place", 1)

@pytest.fixture(params=["a", "b", "c"])
def place(request):
    return request.param

def test_one(place):
    pass

def test_two(place):
    pass

@pytest.mark.drawn(2)
@pytest.mark.parametrize("number", range(9))
def test_numbers(number):
    pass
"""


TOGETHER = """
import pytest

@pytest.mark.drawn_together(2)
@pytest.mark.parametrize("number", range(2))
def test_first(number):
    pass

@pytest.mark.drawn_together(2)
def test_second():
    pass

@pytest.mark.drawn_together(2)
def test_third():
    pass

@pytest.mark.soak
@pytest.mark.drawn_together(2)
def test_long():
    pass

def test_always():
    pass
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_cases.py").write_text(TESTS)
    return tmp_path


def collected(folder, *runs, **environment):
    """Of each run, with its words and its seed."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(runs)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "GROUPSCOPE_ORDER": "", **environment}
    done = subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True, text=True, timeout=60)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(runs), done.stderr
    return found


def names_of(names):
    return [name.partition("::")[2] for name in names]


def test_a_run_draws_cases_and_values_and_soak_runs_all(folder):
    drawn, whole, soak = map(names_of, collected(folder, *((["-m", mark], 1) for mark in (RUN, BOTH, "soak"))))
    assert len(whole) == 3 + 3 + 9
    assert [name.partition("[")[0] for name in drawn] == ["test_one", "test_two", "test_numbers", "test_numbers"]
    # Both tests of the file get the same value.
    assert drawn[0].partition("[")[2] == drawn[1].partition("[")[2]
    assert soak == whole


def test_other_seeds_draw_others_and_the_same_seed_the_same(folder):
    by_seed = collected(folder, *((["-m", RUN], seed) for seed in (1, 1, 2, 3, 4)))
    assert by_seed[0] == by_seed[1]
    assert len({each[0] for each in by_seed}) > 1 and len({tuple(each[2:]) for each in by_seed}) > 1


def test_a_case_that_is_named_runs_always(folder):
    names = [f"test_cases.py::test_one[{value}]" for value in "abc"]
    assert collected(folder, *((["-m", RUN, name], 1) for name in names)) == [[name] for name in names]


def test_whole_tests_take_turns_with_all_their_cases(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_together.py").write_text(TOGETHER)
    runs = [*((["-m", RUN], seed) for seed in range(8)), (["-m", BOTH], 1), (["-m", "soak"], 1)]
    *drawn, whole, soak = map(names_of, collected(tmp_path, *runs))
    for names in drawn:
        assert "test_always" in names and "test_long" not in names
        assert len({name.partition("[")[0] for name in names}) == 3
        # All cases of a test or none.
        assert sum(name.startswith("test_first") for name in names) in (0, 2)
    assert len({*map(tuple, drawn)}) == 3
    assert len(whole) == 6
    assert soak == [name for name in whole if name != "test_always"]


def test_the_order_of_files_and_of_the_tests_in_each_can_be_drawn(folder):
    (folder / "test_together.py").write_text(TOGETHER)
    runs = [(["-m", BOTH], seed) for seed in (1, 1, 2, 3, 4, 5, 6)]
    (fixed,), drawn = collected(folder, runs[0]), collected(folder, *runs, GROUPSCOPE_ORDER="drawn")
    assert drawn[0] == drawn[1]
    for names in drawn:
        assert sorted(names) == sorted(fixed)
        files = [name.partition("::")[0] for name in names]
        # Whole files.
        assert sum(one != next_one for one, next_one in pairwise(files)) == 1
    assert len({names[0].partition("::")[0] for names in drawn}) == 2
    for file in {name.partition("::")[0] for name in fixed}:
        assert len({tuple(name for name in names if name.startswith(file)) for names in drawn}) > 2


def test_cases_that_go_on_from_one_to_the_next_keep_their_order_in_a_drawn_one(folder):
    cases = (
        "import pytest\n@pytest.mark.in_order\n@pytest.mark.parametrize('step', range(6))\ndef test_step(step): pass\n"
    )
    (folder / "test_page.py").write_text(f"{cases}def test_beside(): pass\n")
    for names in collected(folder, *((["-m", BOTH], seed) for seed in (1, 2, 3)), GROUPSCOPE_ORDER="drawn"):
        steps = [name[-2] for name in names if "test_step" in name]
        assert steps == list("012345")
