"""Damaged inputs of every kind, drawn from one seed: the short form of `make fuzz`."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.logs import broker_logs
from tests.fuzz.target import Target
from tests.fuzz.targets import targets
from tests.fuzz.volume import Find, Volume

ROOT = Path(__file__).parents[2]
INPUTS = {
    "framing": 600,
    "records": 4_000,
    "payloads": 4_000,
    "archive lines": 500,
    "snapshots": 400,
    "assign specs": 300,
    "client properties": 3_000,
}


@pytest.mark.parametrize("name", INPUTS)
def test_damaged_inputs_break_no_promise(seed: int, name: str) -> None:
    # Of one broker log in four: seeds take as long to make as inputs to check.
    assert Volume(targets(broker_logs()[::4])[name], seed).run(INPUTS[name]) == INPUTS[name]


def test_every_target_is_here() -> None:
    assert set(targets(broker_logs()[:1])) == set(INPUTS)


@pytest.mark.soak
def test_a_million_damaged_inputs_break_no_promise(seed: int) -> None:
    program = [sys.executable, "-m", "tests.fuzz", "volume", "--seed", str(seed)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Careless(Target):
    """Fails for one byte, so that the search for the input that failed can be seen."""

    name = "careless"

    def seeds(self) -> list[bytes]:
        return [b"abc"]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        return raw + chance.randbytes(1)

    def check(self, inputs: Sequence[bytes]) -> None:
        assert not any(b"\x07" in raw for raw in inputs), "a bell"


def test_a_find_is_the_one_input_that_failed_and_comes_again_with_its_seed() -> None:
    finds = []
    for _ in range(2):
        with pytest.raises(Find, match="careless, seed 5: AssertionError") as result:
            Volume(Careless(), 5).run(3_000)
        finds.append(result.value.raw)
    assert b"\x07" in finds[0] and finds[0] == finds[1] and len(finds[0]) < 10
