"""What SQL files declare is read as it is written, and a wrong line says where it is and what was expected."""

import pytest

from schemas.records import FAMILIES
from schemas.sql_files import declared, filled, part, shipped, sql_file
from schemas.tables import SUBJECTS, TABLES, Column, ListOf, Type
from schemas.views import NAMES, VIEWS, view_of
from schemas.words import enumerations
from schemas.words.lines import WrongDeclaration
from tests.runs.ingested import ROOT

TEXT = """\
-- Rows of a test: one for each
-- group.
-- reads: runs
--     findings
--- Only for readers of this file.
--   +findings: cluster group_id
--   names [string]!  Names, some of
--       them long.
--   +rank
SELECT {columns}, {total num_rows} AS num_rows
--- Nor is this in the text.
-- This is.
FROM runs
"""


def test_a_view_is_read_as_it_is_written():
    view = view_of("x", TEXT, "x.sql")
    assert (view.comment, view.reads) == ("Rows of a test: one for each group.", ("runs", "findings"))
    findings = TABLES["findings"]
    names = Column("names", ListOf(Type.STRING), "Names, some of them long.", is_nullable=False)
    rank = VIEWS["v_rebalances"].columns[1]
    assert view.columns == (findings.column("cluster"), findings.column("group_id"), names, rank)
    assert view.sql == (
        "SELECT cluster, group_id, names, rank, CAST(sum(num_rows) AS BIGINT) AS num_rows\n-- This is.\nFROM runs\n"
    )


NAMES_LINES = "names [string]!  Names, some of\n--       them long."
WRONG = {
    "a column that the table lacks": ("cluster group_id", "cluster groop_id", 6, "'groop_id': expected a column"),
    "a table that there is not": ("+findings:", "+finding:", 6, "'+finding: cluster group_id': there is no table find"),
    "a table of reads that there is not": (
        "--     findings",
        "--     finding",
        3,
        "'finding': there is no such table or",
    ),
    "another word for reads": ("reads: runs", "read: runs", 3, "'read: runs findings': expected `reads: TABLE`"),
    "a sentence after reads": (
        "--   +rank",
        "-- +rank",
        9,
        "'+rank': expected `reads: TABLE`, or columns, indented by",
    ),
    "a column too far to the left": ("--   +rank", "--  +rank", 9, "'+rank': expected columns, indented by two spaces"),
    "a column too far to the right": (
        "--   +rank",
        "--    +rank",
        9,
        "'+rank': expected columns, indented by two spaces",
    ),
    "a column twice": (
        "cluster group_id",
        "cluster cluster",
        6,
        "'cluster': expected a name that no column before has",
    ),
    "a column of a group twice": (
        "names [string]!",
        "rank string!",
        9,
        "'rank': expected a name that no column before",
    ),
    "a group that there is not": ("+rank", "+ranks", 9, "no group ranks"),
    "a type that there is not": ("[string]!", "text", 7, "expected as type string, binary"),
    "a column without a sentence": (NAMES_LINES, "names [string]!", 7, "expected a name, a type and"),
    "a part that there is not": ("{total num_rows}", "{totals num_rows}", 10, "no such part; expected one of"),
    "a part with too few arguments": ("{total num_rows}", "{total}", 10, "expected 1 arguments: column"),
    "a part in which another one was filled": (
        "FROM runs",
        "FROM {runs {total {total num_rows}}}\n",
        12,
        "no such part; expected one of",
    ),
    "a part whose name is in a line before": ("FROM runs", "FROM {total}\n", 12, "expected 1 arguments: column"),
    "a part with too many": ("{total num_rows}", "{largest a, b}", 10, "expected 0 arguments"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_says_where_it_is_and_what_was_expected(name):
    old, new, line, expected = WRONG[name]
    with pytest.raises(WrongDeclaration) as raised:
        view_of("x", TEXT.replace(old, new), "schemas/views/x.sql")
    assert str(raised.value).startswith(f"schemas/views/x.sql, line {line}: ") and expected in str(raised.value)


@pytest.mark.parametrize("text", ["", "SELECT 1\n", "-- Rows.\nSELECT 1\n"])
def test_a_view_says_what_its_rows_and_columns_are(text):
    with pytest.raises(WrongDeclaration, match=r"^x\.sql, line 1: .*expected"):
        view_of("x", text, "x.sql")


@pytest.mark.parametrize(
    ("folder", "ending", "names"),
    [
        ("views", ".sql", NAMES),
        ("tables", ".tables", (*SUBJECTS, "functions")),
        ("records", ".json", FAMILIES),
        ("words", ".words", enumerations.SUBJECTS),
    ],
)
def test_every_file_of_a_folder_is_read(folder, ending, names):
    """Files are named in an order, so a new one may be forgotten."""
    files = [path.name for path in (ROOT / "schemas" / folder).iterdir() if path.suffix not in ("", ".py")]
    assert sorted(files) == sorted(f"{name}{ending}" for name in names)


@pytest.mark.parametrize(
    ("view", "table", "left_out"),
    [("v_rebalances", "rebalances", ()), ("v_findings", "findings", ()),
     ("v_assignment_audit", "assignment_audit", ("differences", "checks"))],
)  # fmt: skip
def test_views_that_add_to_a_table_have_all_its_columns(view, table, left_out):
    names = {column.name for column in VIEWS[view].columns}
    missing = [column.name for column in TABLES[table].columns if column.name not in names]
    assert all(name.startswith(left_out) for name in missing) if left_out else not missing, missing


def test_every_part_is_in_use_and_has_its_arguments():
    parts, groups = declared()
    texts = "".join(text for folder in ("views", "findings", "parts") for _, _, text in shipped(folder))
    python = {"shown_run", "newest_partition", "capped_total"}
    for name, each in parts.items():
        assert f"{{{name}}}" in texts or f"{{{name} " in texts or name in python, name
        assert all(f"{{{argument}}}" in each.text for argument in each.arguments), name
        part(name, *each.arguments)
    assert all(f"+{name}\n" in texts for name in groups)


def test_parts_have_parts_and_arguments_have_commas_in_brackets():
    assert filled("{ratio coalesce(a, 0), {total b}}", "x", 1) == (
        "CASE WHEN CAST(sum(b) AS BIGINT) > 0 THEN CAST(coalesce(a, 0) AS DOUBLE)"
        " / CAST(CAST(sum(b) AS BIGINT) AS DOUBLE) END"
    )


def test_users_files_of_metrics_may_have_comments_anywhere():
    file = sql_file("-- What.\r\n--  It goes on.\r\nSELECT 1\r\n-- num_rows: Rows.\r\nFROM x", "x", is_loose=True)
    assert [text for _, text in file.header] == ["What. It goes on.", "num_rows: Rows."]
    assert file.sql == "SELECT 1\nFROM x"
