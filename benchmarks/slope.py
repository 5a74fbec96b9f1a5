"""What an audit costs for 1, 10 and 100 million records of the same shape, whole and by step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.audit import audit_command, source
from benchmarks.commands import new_warehouse, seconds_of
from benchmarks.durations import Bound, shown
from benchmarks.processor_time import adopt_orphans, processor_seconds
from benchmarks.run import Run
from benchmarks.step_times import step_times

RECORDS = 100_000_000
# Of the largest log.
SIZES = (100, 10, 1)
WHOLE = "audit"
# The report, and what starts and ends the process.
REST = "report, start and end"
# Of what a record of the largest log costs, divided by the cost of one of the log a tenth as large.
AT_MOST = Bound(1.2, 1.0)


@dataclass(frozen=True)
class StepCost:
    """`processor_seconds`: of all processes; it is known of a whole audit only."""

    step: str
    records: int
    seconds: float
    processor_seconds: float | None = None
    # The same of a log a tenth as large, where the bound applies.
    of_a_tenth: float | None = None

    @property
    def ratio(self) -> float | None:
        """By processor seconds: other programs on the machine do not change them much."""
        if self.of_a_tenth is None or self.processor_seconds is None:
            return None
        return self.processor_seconds / self.of_a_tenth / 10

    @property
    def verdict(self) -> str:
        return "" if self.ratio is None else AT_MOST.verdict(self.ratio)

    def cells(self) -> tuple[str, ...]:
        name = f"{self.step} of {self.records:,} records, by the clock"
        if self.processor_seconds is not None:
            name += f"; {shown(self.processor_seconds)} of processors"
        if self.ratio is None or self.of_a_tenth is None:
            return (name, shown(self.seconds), "", "", "", "", "")
        tenth = f"a tenth of the records, {shown(self.of_a_tenth)} of processors"
        ratio = f"{self.ratio:.2f} x a record"
        return (name, shown(self.seconds), tenth, ratio, f"{AT_MOST.at_most} x", f"{AT_MOST.aim} x", self.verdict)

    def facts(self) -> dict[str, object]:
        return vars(self) | {"ratio": self.ratio, "verdict": self.verdict}


def measure(run: Run) -> list[StepCost]:
    return list(costs(run))


def costs(run: Run) -> Iterator[StepCost]:
    largest = run.records or RECORDS
    processor: dict[int, float] = {}
    adopt_orphans()
    for part in SIZES:
        records = largest // part
        folder, _ = source(replace(run, records=records))
        warehouse = new_warehouse(run.folder)
        before = processor_seconds()
        whole = seconds_of(audit_command(folder, warehouse))
        processor[records] = processor_seconds() - before
        # From one to ten million, what a record costs falls: the start costs the same.
        tenth = processor[largest // 10] if records == largest else None
        yield StepCost(WHOLE, records, whole, processor[records], tenth)
        yield from steps(str(warehouse), records, whole)


def steps(warehouse: str, records: int, whole: float) -> Iterator[StepCost]:
    rest = whole
    for step in step_times(warehouse):
        rest -= step.seconds
        yield StepCost(step.job, records, step.seconds)
    yield StepCost(REST, records, rest)
