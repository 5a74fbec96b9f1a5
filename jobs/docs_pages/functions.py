"""Writes the declarations into docs/functions.md, between its two marks. With --check it only says whether they are
current. The rest of the page is written by hand.

python -m jobs.docs_pages.functions [--check]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from jobs.docs_pages.tables import shown_type
from schemas.functions import SCALAR_FUNCTIONS, ScalarFunction
from schemas.tables import Column, StructOf

PAGE = Path("docs/functions.md")
BEGIN, END = "<!-- generated from schemas/functions.py -->", "<!-- end of what is generated -->"


def function_lines(function: ScalarFunction) -> Iterator[str]:
    yield f"## {function.name}"
    yield ""
    yield function.comment
    yield ""
    yield "| argument or result | type | what it is |"
    yield "|---|---|---|"
    yield from (row(column) for column in function.arguments)
    yield f"| result | {shown_type(function.result)} | {function.result_comment} |"
    yield from field_rows("result", function.result)
    yield ""


def field_rows(inside: str, kind: object) -> Iterator[str]:
    if isinstance(kind, StructOf):
        for field in kind.fields:
            yield row(field, f"{inside}.")
            yield from field_rows(f"{inside}.{field.name}", field.type)


def row(column: Column, inside: str = "") -> str:
    return f"| `{inside}{column.name}` | {shown_type(column.type)} | {column.comment} |"


def page(written: str) -> str:
    """The page as it is written, with the part between the marks made anew."""
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [line for function in SCALAR_FUNCTIONS.values() for line in function_lines(function)]
    return "\n".join([before + BEGIN, "", *lines, END + after])


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(PAGE.read_text()), "jobs.docs_pages.functions", sys.argv[1:]))
