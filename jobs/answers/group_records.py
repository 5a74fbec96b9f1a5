"""Reads decoded records of one group, up to an offset or a time."""

from collections.abc import Sequence

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal


def group_records(history: History, group: Row, until: Condition, table: str, columns: Sequence[str]) -> list[Row]:
    """In log order. `group` is a row with the group and its evidence."""
    rows = history.rows(
        table,
        equal("offsets_partition", group["evidence_partition"]),
        equal("group_id", group["group_id"]),
        until,
        columns=["record_offset", *columns],
    )
    return sorted(rows, key=lambda row: int(row["record_offset"]))
