"""Views over the tables: answers that need no further join, worst rows first. One text each, which Spark, Trino and
DuckDB all take: no functions of one engine, every count a BIGINT, the place of NULL in an order said.

`schemas/views/NAME.sql` declares one:

    -- What its rows are, and which question they answer.
    -- reads: TABLE TABLE
    --   +TABLE: COLUMN COLUMN
    --   +GROUP
    --   name type!  What the column says. `!`: it is never NULL.
    WITH {clusters}, … SELECT {columns} FROM …

A text without a SELECT at the beginning of a line ends with the rows `ranked`, which are listed by `rank` in each
cluster. `+TABLE: …` are columns as the table has them, `+GROUP` those of `-- columns GROUP` in `schemas/parts`.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from schemas.sql_files import SqlFile, declared, indent, refuse, sql_file
from schemas.tables import TABLES, Column, Groups, columns_of
from schemas.words.lines import Line, text_of

OF_TABLE = re.compile(r"\+(\w+): (.+)")
READS = "reads: "
LAST_SELECT = re.compile(r"(?m)^SELECT\b")
# How a view ends whose text only says which rows are `ranked`.
BY_RANK = "SELECT {columns}\nFROM ranked\nORDER BY cluster, rank"


@dataclass(frozen=True, slots=True)
class View:
    """`reads` are the tables and views that the text names; `columns` are those of its result, in order."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    reads: tuple[str, ...]
    sql: str


def view(name: str) -> View:
    path = f"views/{name}.sql"
    return view_of(name, text_of(path), f"schemas/{path}")


def view_of(name: str, text: str, place: str) -> View:
    file = sql_file(text, place)
    reads = tuple(reads_in(file))
    comment = " ".join(line for _, line in file.header if not line.startswith((READS, "  ")))
    columns = tuple(columns_in(file, groups()))
    if not comment or not columns:
        refuse(place, 1, name, "expected `-- ` with what a row is, and `--   name type  sentence` for each column")
    whole = file if LAST_SELECT.search(file.sql) else replace(file, sql=f"{file.sql}\n{BY_RANK}")
    sql = whole.filled({"columns": ", ".join(column.name for column in columns)})
    return View(name, comment, columns, reads, sql + "\n")


def reads_in(file: SqlFile) -> Iterator[str]:
    """Of the header, in which no line is a comment after that of `reads` or a column: it may be one with an error."""
    is_comment = True
    for number, line in file.header:
        if line.startswith(READS):
            for each in line.split()[1:]:
                yield (
                    each
                    if each in TABLES or each in NAMES
                    else refuse(
                        file.place,
                        number,
                        each,
                        "there is no such table or view; expected names of those that are read",
                    )
                )
        elif not line.startswith(" ") and (not is_comment or re.match(r"[a-z_]+:( |$)", line)):
            refuse(file.place, number, line, "expected `reads: TABLE`, or columns, indented by two spaces")
        is_comment &= not line.startswith((READS, " "))


def columns_in(file: SqlFile, groups: Groups) -> Iterator[Column]:
    """Of the header: columns of tables, groups of columns, and columns as files of tables declare them."""
    names: set[str] = set()
    for number, line in file.header:
        for column in columns_on(file.place, number, line, groups):
            if column.name in names:
                refuse(file.place, number, column.name, "expected a name that no column before has")
            names.add(column.name)
            yield column


def columns_on(place: str, number: int, line: str, groups: Groups) -> Iterator[Column]:
    if indent(line) not in (0, 2):
        refuse(place, number, line.strip(), "expected columns, indented by two spaces, and by four more what goes on")
    if line.startswith("  "):
        if others := OF_TABLE.fullmatch(line.strip()):
            if others[1] not in TABLES:
                refuse(place, number, line.strip(), f"there is no table {others[1]}")
            known = {column.name: column for column in TABLES[others[1]].columns}
            for each in others[2].split():
                yield known.get(each) or refuse(place, number, each, f"expected a column of the table {others[1]}")
        else:
            yield from columns_of(deque([Line(f"{place}, line {number}", 2, line.strip())]), groups)


@cache
def groups() -> dict[str, tuple[Column, ...]]:
    return {name: tuple(columns_in(file, {})) for name, file in declared()[1].items()}


# As pages and lists show them.
NAMES = (
    "v_groups_now", "v_lag_now", "v_decode_coverage", "v_rebalances", "v_rebalance_causes", "v_rebalance_storms",
    "v_assignment_audit", "v_transactions_open", "v_rebalances_daily", "v_group_verdict", "v_offset_resets",
    "v_expiry_forecast", "v_commit_volume", "v_offsets_topic_health", "v_failovers", "v_inventory", "v_topic_consumers",
    "v_partition_coverage", "v_record_headroom", "v_replay_spans", "v_cluster_diff", "v_findings", "v_gate_spans",
    "v_gate_coverage", "v_ungated_commits", "v_freshness_slo", "v_lag_daily", "v_expectation_daily", "v_enums",
)  # fmt: skip
VIEWS: dict[str, View] = {name: view(name) for name in NAMES}
