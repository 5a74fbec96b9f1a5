"""The table of folders in docs/architecture.md has each folder of the code, with the docstring of its package."""

import ast
import re

from jobs.docs_pages import folders
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"^\| `((?:schemas|udfs|jobs)/[\w/]*)` \| (.*) \|$", PAGE.partition("## Decisions")[0], re.M))


def test_each_folder_with_code_is_in_the_table_and_no_other():
    files = [path for layer in folders.LAYERS for path in (ROOT / layer).rglob("*.py")]
    there = {f"{path.parent.relative_to(ROOT)}/" for path in files}
    assert SHOWN.keys() == there


def test_each_row_is_the_docstring_of_its_package():
    for name, shown in SHOWN.items():
        docstring = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text(encoding="utf-8")))
        assert docstring and shown == " ".join(docstring.split()), name


def test_the_page_is_current():
    assert folders.page(PAGE, ROOT) == PAGE
