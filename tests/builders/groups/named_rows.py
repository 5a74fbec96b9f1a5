"""Rows of a fold by the names of their fields."""

from typing import Any

from udfs.groups.history.rows import Row, RowsByTable


def named(row: Row) -> dict[str, Any]:
    fields, *values = row
    return dict(zip(fields.names, values, strict=True))


def named_rows(rows: RowsByTable, table: str) -> list[dict[str, Any]]:
    return [named(row) for row in rows.of[table]]
