"""Writes docs/renames.md from schemas/renames.py. With --check it only says whether the page is current.

python -m jobs.docs_pages.renames [--check]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from schemas.renames import RENAMES, Rename
from schemas.tables import USER_TABLES
from schemas.views import VIEWS

PAGE = Path("docs/renames.md")
INTRODUCTION = """# Old and new names

Generated from `schemas/renames.py`: names of tables, views and columns that an earlier contract version had. SQL,
suites, files of metrics, waivers and settings that use an old name end with an error that says the new one, such as
`is_open is is_provisional since version 3`. A suite has the name of its table. `groupscope --version` prints the
contract version, and each Delta table has it as its property `groupscope.contract_version`.

Version 3 renamed what was read wrongly. Analysts took `from_offset` of an interval for a committed offset: it is the
offset of a record of `__consumer_offsets`. `is_open` does not say that a row still holds, which `to_time` NULL says,
but that a later run may still change the row. Every view begins with `v_`.
"""


def page() -> str:
    return "\n".join([INTRODUCTION, "| old name | new name | kind | since version | where |", "|---|---|---|---|---|",
                      *map(row, RENAMES), "", *kept_lines(), ""])  # fmt: skip


def row(each: Rename) -> str:
    new = "gone" if each.new is None else f"`{each.new}`"
    return f"| `{each.old}` | {new} | {each.kind} | {each.since} | {names(each.where)} |"


def kept_lines() -> Iterator[str]:
    """Columns that have the old name of others, and keep it."""
    columns = {name: each.columns for name, each in USER_TABLES.items()}
    columns |= {name: each.columns for name, each in VIEWS.items()}
    for old in dict.fromkeys(each.old for each in RENAMES):
        if kept := [name for name, of in columns.items() if old in {column.name for column in of}]:
            yield f"- `{old}` is still the name of a column of {names(kept)}: there it is an offset of data."


def names(of: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in of)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.renames", sys.argv[1:]))
