"""What a run draws of tests with many cases, and what it leaves to `make soak`."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFTEST = """
from tests.drawn_cases import leave_others_to_soak

def pytest_collection_modifyitems(config, items):
    leave_others_to_soak(config, items)
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
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_cases.py").write_text(TESTS)
    return tmp_path


def collected(folder: Path, words: Sequence[str], seed: int = 1) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GROUPSCOPE_DRAW": str(seed)}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=60)
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_a_run_draws_cases_and_values_and_soak_runs_all(folder: Path) -> None:
    drawn, whole = collected(folder, ["-m", "not soak"]), collected(folder, ["-m", "soak or not soak"])
    assert len(whole) == 3 + 3 + 9
    assert [name.partition("[")[0] for name in drawn] == ["test_one", "test_two", "test_numbers", "test_numbers"]
    # Both tests of the file get the same value.
    assert drawn[0].partition("[")[2] == drawn[1].partition("[")[2]
    assert collected(folder, ["-m", "soak"]) == whole


def test_other_seeds_draw_others_and_the_same_seed_the_same(folder: Path) -> None:
    by_seed = [collected(folder, ["-m", "not soak"], seed) for seed in (1, 1, 2, 3, 4)]
    assert by_seed[0] == by_seed[1]
    assert len({each[0] for each in by_seed}) > 1 and len({tuple(each[2:]) for each in by_seed}) > 1


def test_a_case_that_is_named_runs_always(folder: Path) -> None:
    names = [f"test_one[{value}]" for value in "abc"]
    for name in names:
        assert collected(folder, ["-m", "not soak", f"test_cases.py::{name}"]) == [name]


def test_whole_tests_take_turns_with_all_their_cases(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_together.py").write_text(TOGETHER)
    drawn = [tuple(collected(tmp_path, ["-m", "not soak"], seed)) for seed in range(8)]
    for names in drawn:
        assert "test_always" in names and "test_long" not in names
        assert len({name.partition("[")[0] for name in names}) == 3
        # All cases of a test or none.
        assert sum(name.startswith("test_first") for name in names) in (0, 2)
    assert len({*drawn}) == 3
    whole = collected(tmp_path, ["-m", "soak or not soak"])
    assert len(whole) == 6
    assert collected(tmp_path, ["-m", "soak"]) == [name for name in whole if name != "test_always"]
