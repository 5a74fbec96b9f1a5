"""What the page says of the cost of a record, of a billion of them, and of the time that each step takes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WHOLE = "audit"
BILLION = 1_000_000_000
MICRO = 1e6
COST = """## The cost of a record

`audit` with all steps and the report, the local engine, two workers, a log of few keys. Processor time is that of all
processes together; other programs on the machine do not change it much. The last column compares what a record costs
with what it costs in the log of the row above. Its limit is 1.2 in the last row.

| records | by the clock | processor time | clock, µs a record | processor, µs a record | the row above = 1 |
|---|---|---|---|---|---|"""
ASSUMED = """This is an extrapolation. It assumes that:

- each further record costs as much as the records between the two largest logs did;
- the log has the same shape: 300 groups and 22,800 keys. With more keys, the replay and its tables cost more;
- the machine is the same, and the warehouse is on its local disk;
- the records are read by one audit. An audit that finds most of them known reads only the new ones.
"""
STEPS = """## Where the time goes

The same audits by step, as parts of the time by the clock."""


def slope_lines(figures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    whole = sorted((each for each in figures if each["step"] == WHOLE), key=lambda each: int(each["records"]))
    yield COST
    yield from cost_rows(whole)
    yield ""
    yield from billion_lines(whole)
    yield from step_lines(figures, [each["records"] for each in whole])


def cost_rows(whole: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    before: float | None = None
    for each in whole:
        clock, processor = (each[field] / each["records"] * MICRO for field in ("seconds", "processor_seconds"))
        compared = "" if before is None else f"{processor / before:.2f}"
        yield (
            f"| {each['records']:,} | {each['seconds']:,.1f} s | {each['processor_seconds']:,.1f} s | {clock:.2f} "
            f"| {processor:.2f} | {compared} |"
        )
        before = processor


def billion_lines(whole: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """From the two largest logs."""
    smaller, larger = whole[-2:]
    hours = {
        field: extrapolated(smaller["records"], smaller[field], larger["records"], larger[field]) / 3600
        for field in ("seconds", "processor_seconds")
    }
    yield "## A billion records"
    yield ""
    yield f"About {hours['seconds']:.1f} hours by the clock, and {hours['processor_seconds']:.1f} hours of one core."
    yield f"These follow from the logs of {smaller['records']:,} and {larger['records']:,} records: the time of the"
    yield "larger one, and for each further record the difference of their times divided by that of their records."
    yield ""
    yield ASSUMED


def extrapolated(few: int, seconds_of_few: float, many: int, seconds_of_many: float) -> float:
    a_record = (seconds_of_many - seconds_of_few) / (many - few)
    return seconds_of_many + a_record * (BILLION - many)


def step_lines(figures: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> Iterator[str]:
    seconds = {(each["step"], each["records"]): each["seconds"] for each in figures}
    steps = dict.fromkeys(each["step"] for each in figures if each["step"] != WHOLE)
    yield STEPS
    yield ""
    yield f"| step | {' | '.join(f'{size:,} records' for size in sizes)} |"
    yield "|---" * (len(sizes) + 1) + "|"
    for step in steps:
        cells = (f"{seconds[step, size]:,.1f} s, {seconds[step, size] / seconds[WHOLE, size]:.0%}" for size in sizes)
        yield f"| {step} | {' | '.join(cells)} |"
    yield ""
