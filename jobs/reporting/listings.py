"""Rows beside a drawing or a number: what a table of the page shows, and the statement that lists all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobs.reporting.names import MOST_IN_ROWS, cut
from jobs.row_output import cell_text

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


def moment(value: datetime | None) -> str:
    """A time as people read it, in UTC; milliseconds, since a rebalance is over in a few."""
    if value is None:
        return "unknown"
    plain = value.astimezone(UTC) if value.tzinfo else value
    return f"{plain:%Y-%m-%d %H:%M:%S}.{plain.microsecond // 1000:03d}"


def clock(value: datetime | None) -> str:
    """Within a story, whose day is in its head."""
    return "unknown" if value is None else f"{value.astimezone(UTC) if value.tzinfo else value:%H:%M:%S}"
