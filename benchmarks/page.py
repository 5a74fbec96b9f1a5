"""Writes docs/performance.md from the kept figures. With --check it only says whether the page is current.

python -m benchmarks.page [--check]
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.kept_figures import kept
from benchmarks.slope_page import slope_lines
from benchmarks.year_page import OF_AUDITS, OF_RUNS, lines_of_audits, lines_of_runs

PAGE = Path("docs/performance.md")
SLOPE = "slope"
HEAD = ("measure", "ours", "rival", "ratio", "limit", "aim", "verdict", "run")
# Headings, and the measures below them.
SECTIONS = {
    "Whole commands": (
        "audit", "audit-again", "audit-sample", "audit-storage", "audit-memory", "ingest", "ingest-parquet",
        "ingest-kafka", "ingest-again", "ingest-more", "ingest-memory", "ingest-live", "ingest-live-again",
        "replay", "replay-linear", "replay-more", "replay-cost", "assignments", "lag", "start", "status", "sql",
        "report",
    ),
    "More workers": ("audit-workers", "workers-spark"),
    "Logs that are hard to split": ("skew",),
    "Records": ("decode", "mix", "framing", "dump", "memory", "functions-spark", "functions-duckdb"),
    "Assignors": ("assign", "assignors-client", "assignors-server", "assignors-share"),
}  # fmt: skip
INTRODUCTION = """# Performance

Generated from `benchmarks/figures.json`. `python -m benchmarks MEASURE… --keep` measures again and keeps the figures
there; then `python -m benchmarks.page` writes this page. [Architecture](architecture.md#speed-and-what-bounds-it) says
what bounds the speed and what was tried.

A rival is another tool that does the same work, or another run of Groupscope that the figure is compared with. Both are
measured in the same run. The ratio is ours divided by the rival's. For speeds, more is better: the limit and the aim
are the lowest ratios. For times and memory, less is better: they are the highest values. Figures without a limit are
there for comparison. `missed` says that the figure is on the wrong side of its limit.
"""
OF_SECTION = {
    "Logs that are hard to split": """\
At its end, a step waits for its last task while other workers have nothing left to do. The table compares this time
with the median of the tasks, by the clock. It also compares the slowest task with the median, in seconds of a
processor. Both limits are 3 times the median, where the work can be split; the second is for tasks of a second or
longer, and not for an ingest, whose last tasks are small on purpose. Records of one group follow from each other: one
task must replay them. Memory is that of the largest worker, or of the driver if a step has one task; the limit is 700
MB. A name without "times" is the full size.
""",
    "More workers": """Two workers have one core each, on one machine. The rival is one such worker.
""",
}
RUNS = """## Runs

The load is the number of programs that wanted a processor in the minute before the measure. Where it is larger than the
number of cores, other work slowed the measure: compare only ratios, and only those of the same run.
"""


def page(figures: Mapping[str, Any]) -> str:
    runs = numbered_runs(figures)
    lines = [INTRODUCTION]
    if SLOPE in figures:
        lines += [*slope_lines(figures[SLOPE]["figures"]), f"Measured in run {runs[SLOPE]}.", ""]
    for heading, measures in SECTIONS.items():
        rows = [row for name in kept_names(figures, measures) for row in rows_of(figures[name], runs[name])]
        if rows:
            lines += [
                f"## {heading}",
                "",
                *([OF_SECTION[heading]] if heading in OF_SECTION else []),
                *table(HEAD, rows),
            ]
            lines += [""]
    for name, lines_of in ((OF_RUNS, lines_of_runs), (OF_AUDITS, lines_of_audits)):
        if name in figures:
            lines += [*lines_of(figures[name]["figures"]), f"Measured in run {runs[name]}.", ""]
    lines += [RUNS, *run_lines(figures, runs)]
    return "\n".join(lines).rstrip("\n") + "\n"


def kept_names(figures: Mapping[str, Any], measures: tuple[str, ...]) -> Iterator[str]:
    """A kept measure may have a part after its name."""
    for measure in measures:
        yield from (name for name in figures if name.partition(" ")[0] == measure)


def rows_of(measure: Mapping[str, Any], run: str) -> Iterator[tuple[str, ...]]:
    return ((*figure["cells"], run) for figure in measure["figures"])


def numbered_runs(figures: Mapping[str, Any]) -> dict[str, str]:
    """Measures with equal conditions have the same run."""
    numbers: dict[tuple[str, ...], str] = {}
    return {name: numbers.setdefault(conditions(each), str(len(numbers) + 1)) for name, each in figures.items()}


def conditions(measure: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        measure["date"],
        measure["processor"],
        str(measure["cores"]),
        f"{measure['memory_gb']} GB",
        measure["python"],
        str(measure["load"]),
    )


def run_lines(figures: Mapping[str, Any], runs: Mapping[str, str]) -> list[str]:
    by_number = {runs[name]: conditions(each) for name, each in figures.items()}
    head = ("run", "date", "processor", "cores", "memory", "Python", "load")
    return list(table(head, [(number, *facts) for number, facts in by_number.items()]))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


if __name__ == "__main__":
    made = page(kept())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made)
    elif PAGE.read_text() != made:
        sys.exit(f"{PAGE} is not what the figures say; run: python -m benchmarks.page")
