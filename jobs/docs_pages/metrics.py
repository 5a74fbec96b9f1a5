"""Writes docs/metrics.md from the files of schemas/metrics. With --check it only says whether the page is current.

python -m jobs.docs_pages.metrics [--check]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from jobs.gating.declarations.metric_files import FAILING, Metrics, our_metrics
from schemas.words.gate import ExportedMetric

PAGE = Path("docs/metrics.md")

INTRODUCTION = """# Metrics

Generated from `schemas/metrics/`. `groupscope gate` computes these numbers from the tables, and stores them in
`gate_metrics`. Then it compares them with limits. A limit is an *expectation*; all expectations of one table are a
*suite* (in the same files). A *slice* is a subset of a table that is measured separately, such as one group. So
`gate_metrics` has one row for each run, table, slice and metric.

A metric `rows_failing_NAME` counts rows that break a rule. The page shows the rule as an SQL condition, and the column
`query` of `gate_results` has a query that lists the rows. You can add metrics and suites of your own:
[operations.md](operations.md#your-own-metrics-and-suites).

The *as-of time* is the time for which a run computes lag, verdicts and findings. A *point* is the lag of a group on one
partition at one snapshot.
"""
EXPORTED = """Gauges of the file that `groupscope audit --prometheus FILE` writes. A *finding* is a problem that an
audit reports. It is *waived* if a [waiver](operations.md#the-gate) accepts it until a date. A verdict is a label: a
group has one series, with its present verdict."""


def page() -> str:
    files = our_metrics().values()
    contents = [f"- [{each.table}](#{each.table}): {each.about}" for each in files]
    lines = [INTRODUCTION, *contents, "", *(line for each in files for line in table_lines(each))]
    return "\n".join([*lines, *exported_lines()]).rstrip("\n") + "\n"


def exported_lines() -> Iterator[str]:
    yield from ("## For Prometheus", "", EXPORTED, "", "| metric | what it is | labels |", "|---|---|---|")
    for metric in ExportedMetric:
        labels = ", ".join(f"`{name}`" for name in ("cluster", *metric.labels))
        yield f"| `{metric.value}` | {metric.meaning} | {labels} |"


def table_lines(metrics: Metrics) -> Iterator[str]:
    yield from (f"## {metrics.table}", "", metrics.about, "", "| metric | what it is | condition |", "|---|---|---|")
    for name, meaning in metrics.metrics.items():
        condition = metrics.rules.get(name.removeprefix(FAILING)) if name.startswith(FAILING) else None
        shown = f"`{condition}`" if condition else ""
        yield f"| `{name}` | {meaning} | {shown} |"
    yield ""


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.metrics", sys.argv[1:]))
