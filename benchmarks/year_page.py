"""What the page says of a year of hourly runs, and of hourly audits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

OF_RUNS, OF_AUDITS = "year-of-runs", "year"
MOST_DAYS = 12
KILOBYTE = 1024
COLUMNS = "| runs | files | Delta log files | Delta logs | records and runs | all else | open |"
RULE = "|---|---|---|---|---|---|---|"
HEAD_OF_RUNS = """## Hourly runs with a daily `maintain`

What a warehouse has after each of these days of simulated runs (`python -m benchmarks.year_of_runs`), and how long it
takes to open. Each run reads the newest records and replays them, and {keep} days are kept. Records, snapshots and the
rows of `runs` are never dropped: their files grow with the log. All else must not grow once runs are older than the
term. Seconds are of a processor.

"""
HEAD_OF_AUDITS = """## Hourly audits with a daily `maintain`

The same, but each run is a whole `audit` of the newest records and a snapshot (`python -m benchmarks.year_of_audits`),
and {keep} days are kept. Seconds of an audit are the median of the day.

"""


def shown(days: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first day and the last, and some between them."""
    if len(days) <= MOST_DAYS:
        return list(days)
    places = {round(number * (len(days) - 1) / (MOST_DAYS - 1)) for number in range(MOST_DAYS)}
    return [days[place] for place in sorted(places)]


def lines_of_runs(days: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{HEAD_OF_RUNS.format(keep=days[-1]['keep_days'])}{COLUMNS}\n{RULE}"
    yield from map(row, days)
    yield ""


def lines_of_audits(days: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{HEAD_OF_AUDITS.format(keep=days[-1]['keep_days'])}{COLUMNS} audit | maintain |\n{RULE}---|---|"
    for day in days:
        yield f"{row(day)} {day['audit_seconds']:.1f} s | {day['maintain_seconds']:.1f} s |"
    yield ""


def row(day: Mapping[str, Any]) -> str:
    sizes = (f"{day[name] / KILOBYTE:,.0f} KB" for name in ("log_bytes", "kept_bytes", "other_bytes"))
    counts = f"| {day['runs']:,} | {day['files']:,} | {day['log_files']:,} "
    return f"{counts}| {' | '.join(sizes)} | {day['open_seconds']:.2f} s |"
