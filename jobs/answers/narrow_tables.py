"""Tables that fit a terminal: a narrow form of the answers. CSV, JSON and --wide have all columns."""

from collections.abc import Collection, Sequence
from typing import Any

from jobs.answers.history import History, print_answer
from jobs.answers.short_ids import with_short_ids
from jobs.answers.table_reader import equal
from jobs.output.rows import Format


def member_ids(history: History, group: str | None = None) -> set[str]:
    of_group = [] if group is None else [equal("group_id", group)]
    return {each for each in history.distinct("membership_intervals", "member_id", *of_group) if each}


def print_narrow(
    names: Sequence[str], rows: Sequence[Sequence[Any]], known: Collection[str], left_out: Collection[str] = ()
) -> None:
    """Without some columns, and with shortened member ids."""
    places = [place for place, name in enumerate(names) if name not in left_out]
    shown = [[row[place] for place in places] for row in with_short_ids(rows, known)]
    print_answer([names[place] for place in places], shown, Format.TABLE)
