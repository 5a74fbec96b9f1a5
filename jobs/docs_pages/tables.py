"""Writes docs/tables.md from the declarations. With --check it only says whether the page is current.

python -m jobs.docs_pages.tables [--check]
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from schemas.contract.tables import CONTRACT_VERSION, USER_TABLES
from schemas.contract.views import VIEWS, View
from schemas.declarations.columns import Column, ColumnType, ListOf, MapOf, StructOf, Table, sql_type

PAGE = Path("docs/tables.md")

INTRODUCTION = f"""# Tables

Generated from `schemas/`: every table of the warehouse and every view over them, version {CONTRACT_VERSION} of the
contract (property `groupscope.contract_version`). Each table is a Delta table at `WAREHOUSE/<table>`, and its columns
have these comments there. Views are in scope of `groupscope sql`; `--print-views` prints them for other engines.

Times are UTC with microseconds, and Kafka's have milliseconds. Unknown is NULL, never -1. Ids of topics are Kafka's 22
characters. Events stand in the order of `offsets_partition, record_offset`, never of time. "null" says whether a column
may be NULL; fields of structs may always be.
"""


def shown_type(kind: ColumnType) -> str:
    """Structs by that word alone: their fields stand in rows of their own."""
    match kind:
        case ListOf(item):
            return f"ARRAY<{shown_type(item)}>"
        case MapOf(key, value):
            return f"MAP<{shown_type(key)}, {shown_type(value)}>"
        case StructOf():
            return "STRUCT"
        case _:
            return sql_type(kind)


def inner_fields(kind: ColumnType) -> tuple[Column, ...]:
    match kind:
        case ListOf(inner) | MapOf(_, inner):
            return inner_fields(inner)
        case StructOf(fields):
            return fields
        case _:
            return ()


def column_rows(columns: Iterable[Column], inside: str = "") -> Iterator[str]:
    for column in columns:
        name = f"{inside}{column.name}"
        null = "yes" if column.is_nullable and not inside else ""
        yield f"| `{name}` | {shown_type(column.type)} | {null} | {column.comment} |"
        yield from column_rows(inner_fields(column.type), f"{name}.")


def names(columns: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in columns)


def table_lines(table: Table) -> Iterator[str]:
    writer = "every job" if table.job == "each" else f"`{table.job}`"
    yield f"## {table.name}"
    yield ""
    yield f"{table.comment}"
    yield ""
    yield f"- One row per {table.grain}"
    yield f"- Key: {names(table.key)}"
    yield f"- Sorted by: {names(table.order)}"
    yield f"- Written by: {writer}"
    yield from column_lines(table.columns)


def view_lines(view: View) -> Iterator[str]:
    yield f"## {view.name}"
    yield ""
    yield f"{view.comment}"
    yield ""
    yield f"- Reads: {names(view.reads) or 'no table'}"
    yield from column_lines(view.columns)


def column_lines(columns: Iterable[Column]) -> Iterator[str]:
    yield ""
    yield "| column | type | null | what it is |"
    yield "|---|---|---|---|"
    yield from column_rows(columns)
    yield ""


def page() -> str:
    shown: tuple[Table | View, ...] = (*USER_TABLES.values(), *VIEWS.values())
    contents = [f"- [{each.name}](#{each.name}): {each.comment}" for each in shown]
    lines = [INTRODUCTION, *contents, ""]
    for each in shown:
        lines += view_lines(each) if isinstance(each, View) else table_lines(each)
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.tables", sys.argv[1:]))
