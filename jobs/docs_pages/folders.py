"""Writes the table of folders into docs/architecture.md, between its two marks: each package of schemas, udfs and jobs
with its docstring. With --check it only says whether the table is current. The rest of the page is written by hand.

python -m jobs.docs_pages.folders [--check]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check

PAGE = Path("docs/architecture.md")
BEGIN, END = "<!-- generated from the docstrings of the packages -->", "<!-- end of the folders -->"
LAYERS = ("schemas", "udfs", "jobs")


def folder_lines(root: Path) -> Iterator[str]:
    yield "| folder | what is in it |"
    yield "|---|---|"
    for layer in LAYERS:
        for package in sorted((root / layer).rglob("__init__.py")):
            about = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
            yield f"| `{package.parent.relative_to(root)}/` | {' '.join(about.split())} |"


def page(written: str, root: Path = Path()) -> str:
    """The page as it is written, with the table between the marks made anew."""
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, "", *folder_lines(root), "", END + after])


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(PAGE.read_text(encoding="utf-8")), "jobs.docs_pages.folders", sys.argv[1:]))
