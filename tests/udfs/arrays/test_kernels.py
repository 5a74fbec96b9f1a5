"""Every kernel of the project: it says what it does, and gives compiled what it gives as plain Python.

Arguments come from `inputs` of the kernel's own tests: `tests/udfs/a/test_kernels.py` for `udfs/a/kernels.py`."""

import copy
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.builders.loops import sample_loops
from udfs.arrays.compiled import Loop

ROOT = Path(__file__).parents[3]
KERNELS = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in (ROOT / "udfs").rglob("kernels.py")]

# With checks everything is compiled anew, which takes seconds for each.
SOME_KERNELS = 1


def loops_of(module: ModuleType) -> Iterator[Loop]:
    """Without those that it imports."""
    for each in vars(module).values():
        if isinstance(each, Loop) and each.__module__ == module.__name__:
            yield each


def equal(first: Any, second: Any) -> bool:
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(np.array_equal(first, second))


@pytest.mark.parametrize("name", KERNELS)
def test_every_function_is_a_loop_that_says_what_it_does(name: str) -> None:
    module = import_module(name)
    functions = [each for each in vars(module).values() if getattr(each, "__module__", None) == name and callable(each)]
    assert functions
    for each in functions:
        assert isinstance(each, Loop), each
        assert each.__doc__, each.name


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_and_plain_loops_give_the_same(name: str, rng: np.random.Generator) -> None:
    inputs = import_module(f"tests.{name.rpartition('.')[0]}.test_kernels").inputs(rng)
    loops = {loop.__name__: loop for loop in loops_of(import_module(name)) if loop.signatures}
    assert set(inputs) == set(loops), "arguments for each loop that has signatures"
    for called, loop in loops.items():
        tried = list(inputs[called])
        assert tried, called
        for arguments in tried:
            other = copy.deepcopy(arguments)
            # Numbers of fixed size overflow in silence in machine code.
            with np.errstate(over="ignore"):
                expected = loop.py_func(*other)
            assert equal(loop(*arguments), expected), called
            # What they wrote into the arrays that they were given.
            assert equal(arguments, other), called


@pytest.mark.parametrize("number", [SOME_KERNELS, pytest.param(len(KERNELS), marks=pytest.mark.soak)])
def test_no_loop_reads_or_writes_beyond_an_array(number: int, seed: int) -> None:
    """With bounds checks in machine code, where such a step would otherwise go unnoticed."""
    with pytest.raises(IndexError):
        sample_loops.write_at.py_func(np.zeros(2, np.int64), 2)
    tried = [f"{checked_loops.__name__}[{name}]" for name in random.Random(seed).sample(sorted(KERNELS), number)]
    chosen = [f"{__file__}::{each}" for each in (checked.__name__, *tried)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "python_functions=checked*"]
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "GROUPSCOPE_SEED": str(seed)}
    done = subprocess.run([*command, *chosen], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"{1 + number} passed" in done.stdout


# What nobody writes into records.
IMPOSSIBLE = (
    "tests/udfs/audit/whatif/test_what_if.py::test_whatever_stands_in_a_record_gives_rows",
    "tests/udfs/audit/classic/test_garbage.py",
    "tests/udfs/audit/modern/test_impossible_targets.py",
    "tests/replay/test_impossible_logs.py",
)


@pytest.mark.parametrize(
    ("setting", "tests", "number"),
    [
        # Plain Python knows the ends of arrays too, and need not be compiled.
        ("NUMBA_DISABLE_JIT", IMPOSSIBLE, 2),
        pytest.param("NUMBA_DISABLE_JIT", IMPOSSIBLE, len(IMPOSSIBLE), marks=pytest.mark.soak),
        pytest.param("NUMBA_BOUNDSCHECK", ["tests/udfs"], 1, marks=pytest.mark.soak),
    ],
)
def test_nothing_in_a_record_leads_a_loop_beyond_an_array(
    setting: str, tests: Sequence[str], number: int, seed: int
) -> None:
    chosen = random.Random(seed).sample(list(tests), number)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not soak and not spark and not broker",
    ]
    environment = os.environ | {setting: "1", "GROUPSCOPE_SEED": str(seed)}
    done = subprocess.run([*command, *chosen], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def checked() -> None:
    """In the process of the first test of bounds: machine code without the checks was compiled before, and is not taken
    for this."""
    with pytest.raises(IndexError):
        sample_loops.write_at(np.zeros(2, np.int64), 2)


@pytest.mark.parametrize("name", KERNELS)
def checked_loops(name: str, rng: np.random.Generator) -> None:
    """Also in that process. What they give is compared with plain loops without the checks."""
    inputs = import_module(f"tests.{name.rpartition('.')[0]}.test_kernels").inputs(rng)
    for loop in loops_of(import_module(name)):
        for arguments in inputs[loop.__name__] if loop.signatures else ():
            loop(*arguments)
