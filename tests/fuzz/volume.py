"""Many mutated inputs in one process, with compiled loops: as fast as users run the code. Nothing guides the changes,
but inputs come from real records and keep their structure, and what each call costs is measured."""

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.fuzz.target import Target

# What a process may need beyond what it had after its first call.
MOST_MEMORY_MIB = 1500


@dataclass
class Find(Exception):
    """An input that broke a promise."""

    target: str
    raw: bytes
    seed: int
    problem: str

    def __str__(self) -> str:
        return f"{self.target}, seed {self.seed}: {self.problem}\ninput: {self.raw!r}"


@dataclass
class Volume:
    target: Target
    seed: int
    pool: Sequence[bytes] = field(init=False)
    inputs: int = 0

    def __post_init__(self) -> None:
        self.pool = self.target.seeds()

    def run(self, inputs: int) -> int:
        """The number of inputs that were checked: at least this many."""
        memory = None
        while self.inputs < inputs:
            count = min(self.target.inputs_a_call, inputs - self.inputs)
            # Each call has a seed of its own, so that a find is repeated without those before it.
            self.call(self.target.mutated(self.pool, count, Random(f"{self.seed}/{self.inputs}")))
            self.inputs += count
            memory = memory or most_memory_mib()
            if most_memory_mib() - memory > MOST_MEMORY_MIB:
                raise Find(self.target.name, b"", self.seed, f"memory grew to {most_memory_mib()} MiB from {memory}")
        return self.inputs

    def call(self, inputs: Sequence[bytes]) -> None:
        started = time.process_time()
        try:
            self.target.check(inputs)
        except Exception as error:
            raise Find(self.target.name, *self.smallest(inputs, error)) from error
        seconds = time.process_time() - started
        if seconds > self.target.seconds_a_call:
            raise Find(self.target.name, *self.smallest(inputs, TimeoutError(f"a call took {seconds:.0f} s")))

    def smallest(self, inputs: Sequence[bytes], error: Exception) -> tuple[bytes, int, str]:
        """The first input that fails by itself, or the bytes of all."""
        for raw in inputs:
            try:
                started = time.process_time()
                self.target.check([raw])
            except Exception as own:
                return raw, self.seed, repr(own)
            if isinstance(error, TimeoutError) and time.process_time() - started > 1:
                return raw, self.seed, repr(error)
        return b"".join(inputs), self.seed, repr(error)


def most_memory_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
