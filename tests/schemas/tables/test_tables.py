"""Rules that declared tables keep, what becomes of a line that is wrong, and whether code names only what is declared.
The columns themselves are compared with docs/tables.md, which is generated and checked in."""

from collections.abc import Iterator

import pytest

from schemas.tables import (
    CONTRACT_VERSION,
    SUBJECTS,
    TABLES,
    USER_TABLES,
    Column,
    ColumnType,
    ListOf,
    MapOf,
    StructOf,
    Table,
    Type,
    read_functions,
    read_tables,
    sql_type,
)
from schemas.words.lines import WrongDeclaration

# Columns whose names do not say that they are flags.
FLAGS = {"no_commit", "committed_beyond_end", "committed_negative", "blocked_by_transaction", "success"}
# Of keys. Facts beside the history of groups may have no name or no offset: a topic of which only the id is known, a
# topic without an id, a group as a whole.
TOPIC = {"topic", "topic_id"}
MAY_BE_NULL = {
    **dict.fromkeys(("lag_points", "lag_days", "lag_minutes", "consumption_rates", "offset_resets"), TOPIC),
    **dict.fromkeys(("odd_commits", "expiry_forecast"), TOPIC),
    "group_verdicts": {*TOPIC, "partition"},
    "group_state_intervals": {"state"},
    "ownership_intervals": {*TOPIC, "role"},
    "partition_moves": {*TOPIC, "role", "from_member_id", "to_member_id"},
    "replayed_moves": {*TOPIC, "role", "from_member_id", "to_member_id"},
    "replay_anomalies": {"group_id"},
    "topics": {"topic_id", "from_time"},
    "source_files": {"offsets_partition", "record_offset", "byte_position"},
    "rejected_records": {
        "partition_leader_epoch", "offsets_partition", "record_offset", "byte_position", "source_file", "value_bytes",
    },
    **{table.name: {"partition_leader_epoch"} for table in SUBJECTS["decoded"] if table.name != "rejected_records"},
}  # fmt: skip

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)


def fields(kind: ColumnType) -> Iterator[Column]:
    """The fields of the structs in a type, however deep."""
    match kind:
        case ListOf(inner) | MapOf(_, inner):
            yield from fields(inner)
        case StructOf(own):
            for field in own:
                yield field
                yield from fields(field.type)


def test_state_lies_in_a_folder_of_its_own() -> None:
    assert CONTRACT_VERSION == 3
    assert {name: table.folder for name, table in TABLES.items()} == {
        name: name if name in USER_TABLES else f"_state/{name}" for name in TABLES
    }


@every_table
def test_the_key_leads_and_is_not_null_where_the_log_has_it(table: Table) -> None:
    assert table.columns[0].name == "cluster"
    for name in table.key:
        assert table.column(name).is_nullable == (name in MAY_BE_NULL.get(table.name, ())), name
    assert set(table.order) <= set(table.key)


@every_table
def test_every_column_has_a_comment_and_times_and_flags_are_named_so(table: Table) -> None:
    for column in fields(StructOf(table.columns)):
        assert column.comment.endswith("."), column
        assert (column.type is Type.TIMESTAMP) == column.name.endswith("_time"), column
        is_named_flag = column.name.startswith(("is_", "has_")) or column.name in FLAGS
        assert (column.type is Type.BOOLEAN) == is_named_flag, column
        assert column.name == column.name.lower()


@every_table
def test_a_column_that_is_never_null_does_not_say_when_it_is(table: Table) -> None:
    assert [each.name for each in table.columns if not each.is_nullable and "NULL:" in each.comment] == []


@every_table
def test_wide_columns_come_after_those_that_queries_filter_by(table: Table) -> None:
    is_wide = [not isinstance(column.type, Type) or column.type is Type.BINARY for column in table.columns]
    names = [column.name for column in table.columns]
    first_wide = is_wide.index(True) if True in is_wide else len(names)
    # Nobody filters by what distinguishes broken lines of one archive, or rows of one group in several offsets
    # partitions.
    assert set(names[:first_wide]) >= set(table.key) - {"value_bytes", "evidence_partition"}
    assert "run_id" in names[:first_wide] or "run_id" not in names


TEXT = """\
# Of all.
group OFTEN
  cluster string!  Name of the cluster:
                   the value of --cluster.

table commits, ingest: a commit
  about: Commits,
      all of them.
  key: cluster at_time
  +OFTEN
  at_time timestamp  When.
  members [struct]   Who.
    often    [OFTEN]          Where.
    settings {string:bigint}  How.
state table kept, replay: a group
  about: What is kept.
  key: cluster at_time
  order: cluster
  +commits
"""
WRONG = {
    "string!  Name": ("strin!  Name", 3, "expected as type string, binary, boolean, int, bigint, double, timestamp"),
    "string!  Name of": ("string! Name of", 3, "expected a name, a type and, after two spaces, a sentence; or +GROUP"),
    "  +OFTEN": ("  +SELDOM", 10, "no group SELDOM is declared before"),
    "  at_time timestamp  When": ("  cluster timestamp  When", 11, "expected a name that no column before has"),
    "members [struct]": ("members [string]", 13, "the column above is no struct"),
    "    often    [OFTEN]          Where.\n    settings {string:bigint}  How.\n": ("", 12, "expected fields below"),
    "table commits, ingest": ("tables commits, ingest", 6, "expected group NAME, or [state] table NAME, JOB: a row"),
    "  about: What is kept.\n": ("", 15, "expected below it about: and a sentence"),
    "key: cluster at_time\n  +": ("key: cluster of_time\n  +", 6, "expected columns of the table as key and order"),
    "  key: cluster at_time\n  +": (
        "  +",
        6,
        "expected below it key: and columns, or key: none if it is written nowhere",
    ),
    "table kept": ("table OFTEN", 15, "expected a name that no group or table before has"),
}


def test_a_file_is_read_as_its_text_says() -> None:
    commits, kept = read_tables("x.tables", TEXT.splitlines(), {})
    assert commits.columns[0] == Column("cluster", Type.STRING, "Name of the cluster: the value of --cluster.", False)
    assert sql_type(commits.columns[2].type) == (
        "ARRAY<STRUCT<often: ARRAY<STRUCT<cluster: STRING>>, settings: MAP<STRING, BIGINT>>>"
    )
    assert (commits.comment, commits.key, commits.order) == (
        "Commits, all of them.",
        ("cluster", "at_time"),
        commits.key,
    )
    (unwritten,) = read_tables("x.tables", [*TEXT.splitlines()[:8], "  key: none", "  day int  Day."], {})
    assert (unwritten.key, unwritten.order) == ((), ())
    assert kept == Table("kept", "a group", "What is kept.", commits.key, ("cluster",), commits.columns, "replay", True)


@pytest.mark.parametrize("right", WRONG)
def test_a_wrong_line_says_its_file_its_number_and_what_was_expected(right: str) -> None:
    wrong, number, expected = WRONG[right]
    assert right in TEXT
    with pytest.raises(WrongDeclaration) as refused:
        read_tables("x.tables", TEXT.replace(right, wrong, 1).splitlines(), {})
    assert str(refused.value).startswith(f"x.tables, line {number}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("functions f: What.\n  x int  X.", "expected function NAME [of TABLE]: what it answers"),
     ("function f: What.", "expected below it its arguments and its result"),
     ("function f of runs: What.\n  columns: cluster group_id\n  x int  X.", "got runs.group_id")],
)  # fmt: skip
def test_a_wrong_line_of_a_function_says_so_too(text: str, expected: str) -> None:
    with pytest.raises(WrongDeclaration, match=r"^x, line 1: ") as refused:
        [*read_functions("x", text.splitlines())]
    assert expected in str(refused.value)
