"""Tables that fit a terminal: a narrow form of the answers. CSV, JSON and --wide have all columns."""

from collections.abc import Collection, Sequence
from typing import Any

from jobs.answers.history import History, print_answer
from jobs.answers.short_ids import with_short_ids
from jobs.answers.table_reader import equal
from jobs.output.failure import visible
from jobs.output.rows import GAP, Format
from jobs.output.table_layout import cut_to, width_of
from jobs.output.terminal import terminal_width

# Width of output that is not a terminal: the same for every script.
WIDTH = 120
LEAST_WIDTH = 20
MOST_CELL = 48


def member_ids(history: History, group: str | None = None) -> set[str]:
    of_group = [] if group is None else [equal("group_id", group)]
    return {each for each in history.distinct("membership_intervals", "member_id", *of_group) if each}


def print_narrow(
    names: Sequence[str], rows: Sequence[Sequence[Any]], known: Collection[str], left_out: Collection[str] = ()
) -> None:
    """Without some columns, with shortened member ids and truncated cells."""
    places = [place for place, name in enumerate(names) if name not in left_out]
    shown = [[row[place] for place in places] for row in with_short_ids(rows, known)]
    print_answer([names[place] for place in places], [[cut_off(cell, MOST_CELL) for cell in row] for row in shown],
                 Format.TABLE)  # fmt: skip


def cut_off(cell: Any, width: int) -> Any:
    return cut_to(cell, width) if isinstance(cell, str) else cell


def last_column_cut(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Truncates the last column, so that lines fit the terminal, unless it is so narrow that columns are printed below
    each other."""
    columns = zip(*([visible(str(cell)) for cell in (*row[:-1],)] for row in rows), strict=True)
    widths = [max(map(width_of, (name, *column))) for name, column in zip(names, columns, strict=False)]
    room = (terminal_width() or WIDTH) - sum(widths) - len(GAP) * len(widths)
    if room < LEAST_WIDTH:
        return [[*row] for row in rows]
    return [[*row[:-1], cut_off(row[-1], room)] for row in rows]
