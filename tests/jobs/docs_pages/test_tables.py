"""The page of the tables shows what is declared, and `--check` says when it does not."""

import re
from pathlib import Path

from jobs.docs_pages import tables
from jobs.docs_pages.page_file import write_or_check
from schemas.tables import USER_TABLES
from schemas.views import VIEWS


def test_every_table_and_view_and_column_has_its_row() -> None:
    sections = re.split(r"^## ", tables.page(), flags=re.MULTILINE)[1:]
    assert [section.split("\n")[0] for section in sections] == [*USER_TABLES, *VIEWS]
    for section, table in zip(sections, (*USER_TABLES.values(), *VIEWS.values()), strict=True):
        rows = re.findall(r"^\| `([a-z0-9_]+)` \| .* \| (yes|) \| .* \|$", section, flags=re.MULTILINE)
        assert rows == [(column.name, "yes" if column.is_nullable else "") for column in table.columns]


def test_fields_of_structs_have_rows_after_the_column_s_own() -> None:
    assert (
        "| `members` | ARRAY<STRUCT> | yes | Every member of the generation; NULL: tombstone. |\n"
        "| `members.member_id` | STRING |  | The id that the coordinator gave the member. |\n"
    ) in tables.page()


def test_no_comment_breaks_its_row() -> None:
    rows = [line for line in tables.page().split("\n") if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {5}


def test_the_page_explains_only_words_that_it_uses() -> None:
    _, _, described = tables.page().partition("**Tables and views**")
    unused = [
        word
        for entry in tables.WORDS
        for word in entry.strip("`").split(", ")
        if not re.search(rf"\b{word}", described, flags=re.IGNORECASE)
    ]
    assert unused == []


def test_no_comment_has_a_phrase_that_readers_misread() -> None:
    """Readers took these for something else: "hold" for "contain", "less" for "fewer", "by" for "per", "but" for
    "except", and looked for the meaning of the rest."""
    phrases = (
        r"that holds?\b|held (then|before)\b|less (the|control|committed)\b|without (claimed|assigned)\b|NULL but\b",
        r"by (second|day of)\b|otherwise than|of a group the|the same of \d|of an emptied|number that opens",
        r"the archive (does|says)|stretch|nobody's|as-of before|convention|still so|beside\b",
    )
    misread = re.compile(rf"\b({'|'.join(phrases)})", flags=re.IGNORECASE)
    assert [result[0] for result in misread.finditer(tables.page())] == []


def test_check_detects_a_page_that_is_out_of_date(tmp_path: Path) -> None:
    page, text = tmp_path / "docs" / "page.md", tables.page()
    assert write_or_check(page, text, "jobs.docs_pages.tables", ["--check"]) == 1
    assert write_or_check(page, text, "jobs.docs_pages.tables", []) == 0
    assert write_or_check(page, text, "jobs.docs_pages.tables", ["--check"]) == 0
    page.write_text("something else")
    assert write_or_check(page, text, "jobs.docs_pages.tables", ["--check"]) == 1
