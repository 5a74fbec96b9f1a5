"""Rows beside a drawing or a number: what a table of the page shows, and the statement that lists all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from jobs.output.rows import cell_text
from jobs.output.zones import ZONES, is_repeated, local_time
from jobs.reporting.rows.names import MOST_IN_ROWS, shorten

Row = Mapping[str, Any]
# Of one table of the page; the statement lists the others.
MOST_ROWS = 60
# A time with milliseconds, and a little more.
MOST_ON_A_LINE = 28
MOST_REMEMBERED = 200
UNKNOWN, NONE, YES, NO = (f"<td>{word}</td>" for word in ("unknown", "none", "yes", "no"))


@dataclass(frozen=True)
class Listing:
    # By which links find it.
    name: str
    title: str
    names: Sequence[str]
    # Its rows as the page has them.
    body: Markup
    num_shown: int
    statement: str
    num_more: int = 0


def listing(
    name: str, title: str, rows: Sequence[Row], names: Sequence[str], statement: str, most: int = MOST_ROWS
) -> Listing:
    """A page has thousands of cells, and a template takes long for each: they are written here."""
    shown = rows[:most]
    body = Markup("\n".join([f"<tr>{''.join([cell(row[name]) for name in names])}</tr>" for row in shown]))
    return Listing(
        name=name,
        title=title,
        names=names,
        body=body,
        num_shown=len(shown),
        statement=statement,
        num_more=max(0, len(rows) - most),
    )


def cell(value: Any) -> str:
    match value:
        case None:
            return UNKNOWN
        case str():
            return short_cell(value) if len(value) <= MOST_REMEMBERED else text_cell(value)
        case bool():
            return YES if value else NO
        case int():
            return f'<td class="number">{value:,}</td>'
        case float():
            return (
                f'<td class="number">{value:,.3g}</td>'
                if abs(value) < 1000
                else f'<td class="number">{value:,.0f}</td>'
            )
        case datetime():
            return f"<td>{moment(value)}</td>"
        case []:
            return NONE
        case _:
            return text_cell(cell_text(value))


def text_cell(text: str) -> str:
    """A long one may take several lines."""
    shown = shorten(text, MOST_IN_ROWS)
    kind = ' class="long"' if len(shown) > MOST_ON_A_LINE else ""
    return f"<td{kind}>{escape(shown)}</td>"


# Names come again in most rows.
short_cell = lru_cache(4_096)(text_cell)


# As long as a time is without its zone.
MILLISECONDS = len("2026-11-23 14:30:00.000")


def moment(value: datetime | None) -> str:
    """A time as people read it; milliseconds, since a rebalance is over in a few."""
    return "unknown" if value is None else moment_in(value, ZONES.printed)


@lru_cache(4_096)
def moment_in(value: datetime, zone: tzinfo) -> str:
    """With the offset from UTC only in the hour that comes twice: the page names the zone."""
    local = local_time(value, zone)
    text = local.isoformat(" ", "milliseconds")
    return text if is_repeated(local) else text[:MILLISECONDS]


def clock(value: datetime | None) -> str:
    """Within a story, whose day is in its head."""
    return "unknown" if value is None else f"{local_time(value):%H:%M:%S}"
