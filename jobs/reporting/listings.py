"""Rows beside a drawing or a number: what a table of the page shows, and the statement that lists all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from jobs.reporting.names import MOST_IN_ROWS, cut
from jobs.row_output import cell_text, visible

Row = Mapping[str, Any]
# Of one table of the page; the statement lists the others.
MOST_ROWS = 60
# A time with milliseconds, and a little more.
MOST_ON_A_LINE = 28


@dataclass(frozen=True)
class Cell:
    text: str
    is_number: bool = False

    @property
    def is_long(self) -> bool:
        """It may take several lines."""
        return len(self.text) > MOST_ON_A_LINE


@dataclass(frozen=True)
class Listing:
    title: str
    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    statement: str
    num_more: int = 0

    @property
    def body(self) -> Markup:
        """Its rows as a page has them. A page has thousands of cells, and a template takes long for each."""
        return Markup("\n".join(f"<tr>{''.join(map(cell_markup, row))}</tr>" for row in self.rows))


def cell_markup(cell: Cell) -> str:
    kind = ' class="number"' if cell.is_number else ' class="long"' if cell.is_long else ""
    return f"<td{kind}>{escape(visible(cell.text))}</td>"


def listing(title: str, rows: Sequence[Row], names: Sequence[str], statement: str, most: int = MOST_ROWS) -> Listing:
    cells = [[cell_of(row[name]) for name in names] for row in rows[:most]]
    return Listing(title, names, cells, statement, max(0, len(rows) - most))


def cell_of(value: Any) -> Cell:
    match value:
        case None:
            return Cell("unknown")
        case bool():
            return Cell("yes" if value else "no")
        case int():
            return Cell(f"{value:,}", is_number=True)
        case float():
            return Cell(f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}", is_number=True)
        case datetime():
            return Cell(moment(value))
        case []:
            return Cell("none")
        case _:
            return Cell(cut(cell_text(value), MOST_IN_ROWS))


@lru_cache(4_096)
def moment(value: datetime | None) -> str:
    """A time as people read it, in UTC; milliseconds, since a rebalance is over in a few."""
    if value is None:
        return "unknown"
    plain = value.astimezone(UTC) if value.tzinfo else value
    return f"{plain:%Y-%m-%d %H:%M:%S}.{plain.microsecond // 1000:03d}"


def clock(value: datetime | None) -> str:
    """Within a story, whose day is in its head."""
    return "unknown" if value is None else f"{value.astimezone(UTC) if value.tzinfo else value:%H:%M:%S}"
