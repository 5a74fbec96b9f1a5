"""The memory that a worker of an audit takes, for logs of every shape."""

from collections.abc import Iterator

from benchmarks.audit import audit_command, source
from benchmarks.commands import new_warehouse
from benchmarks.memory import WORKER, by_program, peak_by_program
from benchmarks.rounds import Limit
from benchmarks.run import Run
from benchmarks.shapes import MIX, SHAPES

RECORDS = 3_000_000
MOST_BYTES, AIM_BYTES = 700e6, 500e6


def measure(run: Run) -> list[Limit]:
    return list(limits(run))


def limits(run: Run) -> Iterator[Limit]:
    for shape in (run.shape,) if run.shape else (MIX, *SHAPES):
        folder, log = source(run, RECORDS, shape)
        # With one worker the driver would do the work.
        peaks = peak_by_program(audit_command(folder, new_warehouse(run.folder), "--workers", "2"))
        name = f"memory of a worker, audit of {log}"
        yield Limit(name, by_program(peaks), peaks[WORKER], MOST_BYTES, AIM_BYTES)
