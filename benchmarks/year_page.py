"""What the page says of a year of hourly audits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

YEAR = "year"
MOST_DAYS = 12
KILOBYTE = 1024
HEAD = """## Hourly audits with a daily `maintain`

What a warehouse has after each of these days of simulated runs (`python -m benchmarks.year_of_audits`), and how long it
takes to open. Each run is a whole `audit` of the newest records and a snapshot, and {keep} days are kept. Records,
snapshots and the rows of `runs` are never dropped: their files grow with the log. All else must not grow once runs are
older than the term. Seconds are of a processor; those of an audit are the median of the day.

| runs | files | Delta log files | Delta logs | records and runs | all else | open | audit | maintain |
|---|---|---|---|---|---|---|---|---|"""


def shown(days: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first day and the last, and some between them."""
    if len(days) <= MOST_DAYS:
        return list(days)
    places = {round(number * (len(days) - 1) / (MOST_DAYS - 1)) for number in range(MOST_DAYS)}
    return [days[place] for place in sorted(places)]


def year_lines(figures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield HEAD.format(keep=figures[-1]["keep_days"])
    for each in figures:
        sizes = (f"{each[name] / KILOBYTE:,.0f} KB" for name in ("log_bytes", "kept_bytes", "other_bytes"))
        yield (
            f"| {each['runs']:,} | {each['files']:,} | {each['log_files']:,} | {' | '.join(sizes)} "
            f"| {each['open_seconds']:.2f} s | {each['audit_seconds']:.1f} s | {each['maintain_seconds']:.1f} s |"
        )
    yield ""
