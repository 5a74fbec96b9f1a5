"""What a fuzz target is: inputs to start from, how they are changed, and what must hold for any input.

An input is one record, batch, payload, line or file, as bytes. `check` takes many at once, since the code under test
works on columns. It raises whatever the code raises, and AssertionError if an input is lost or counted twice.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutations import mutate_bytes


class Target(ABC):
    name: str
    # Inputs are cut here: longer ones cost time and find nothing more.
    longest = 4096
    # How many inputs one call takes, and the most that one call may cost. Seconds are of the processor.
    inputs_a_call = 2_000
    seconds_a_call = 20.0

    @abstractmethod
    def seeds(self) -> list[bytes]: ...

    @abstractmethod
    def check(self, inputs: Sequence[bytes]) -> None: ...

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        return mutate_bytes(raw, others, chance)

    def mutated(self, pool: Sequence[bytes], count: int, chance: Random) -> list[bytes]:
        result = []
        for _ in range(count):
            raw = chance.choice(pool)
            for _ in range(chance.choice((1, 1, 1, 2, 4))):
                raw = self.mutate(raw, pool, chance)
            result.append(raw[: self.longest])
        return result
