"""Ingests and replays the sample, with the columns of every table of the replay declared in reverse order if asked.

    python -m tests.builders.groups.reversed_columns WAREHOUSE reversed

Every two columns of a table have changed places then. It is a process of its own: modules read declarations once.
"""

import sys
from dataclasses import replace
from pathlib import Path

from schemas import tables


def declare_reversed(declared: dict[str, tables.Table]) -> None:
    for name, table in declared.items():
        if table.job == "replay":
            declared[name] = replace(table, columns=table.columns[::-1])


def main(warehouse: Path, order: str) -> None:
    is_reversed = order == "reversed"
    if is_reversed:
        declare_reversed(tables.TABLES)
        declare_reversed(tables.USER_TABLES)
        tables.READING_ENDS = replace(tables.READING_ENDS, columns=tables.READING_ENDS.columns[::-1])
    # These read the declarations, so they are loaded only now.
    from tests.builders.warehouses.replayed_segments import command
    from tests.sample.story import checked_in

    assert (tables.TABLES["rebalances"].columns[-1].name == "cluster") == is_reversed
    folder = checked_in().folder
    command(warehouse, "ingest", "--source", f"segments:{folder}", "--snapshots", str(folder / "snapshots.jsonl"))
    command(warehouse, "replay")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
