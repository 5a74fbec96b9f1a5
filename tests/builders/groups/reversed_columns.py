"""Ingests and replays the sample, with the columns of every table of the replay declared in reverse order if asked.

    python -m tests.builders.groups.reversed_columns WAREHOUSE reversed

Every two columns of a table have changed places then. It is a process of its own: modules read declarations once.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from schemas.declarations import columns

DECLARED = columns.Table


def reversed_table(*arguments: Any, **named: Any) -> columns.Table:
    table = DECLARED(*arguments, **named)
    return replace(table, columns=table.columns[::-1]) if table.job == "replay" else table


def main(warehouse: Path, order: str) -> None:
    is_reversed = order == "reversed"
    if is_reversed:
        columns.Table = reversed_table  # type: ignore[assignment, misc]
    # These read the declarations, so they are loaded only now.
    from schemas.tables import TABLES
    from tests.builders.warehouses.replayed_segments import command
    from tests.sample.story import checked_in

    assert (TABLES["rebalances"].columns[-1].name == "cluster") == is_reversed
    folder = checked_in().folder
    command(warehouse, "ingest", "--source", f"segments:{folder}", "--snapshots", str(folder / "snapshots.jsonl"))
    command(warehouse, "replay")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
