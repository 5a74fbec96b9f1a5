"""Writes docs/tables.md from the declarations. With --check it only says whether the page is current.

python -m jobs.docs_pages.tables [--check]
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from schemas.tables import CONTRACT_VERSION, USER_TABLES, Column, ColumnType, ListOf, MapOf, StructOf, Table, sql_type
from schemas.views import VIEWS, View

PAGE = Path("docs/tables.md")

WORDS = {
    "offsets partition": "a partition of `__consumer_offsets`",
    "copy": "segments or an archive with the same partition of the log: of another replica, or of an earlier time",
    "archive": "records of `__consumer_offsets` that another tool has stored (`--source records:PATH`). It has no "
    "batches, and may lack leader epochs and producers",
    "release": "a release of Kafka, unless the comment says Groupscope",
    "tombstone": "a record without a value, which deletes its key",
    "history": "what `replay` computes from the decoded records: states, members, owners, rebalances, offsets",
    "replay": "the command that computes the history. Only in the name `v_replay_spans` it means that consumers read "
    "messages again",
    "history time": "the time of a record or, if the broker's clock went back, the latest time of an earlier record "
    "of the group. History time never goes back within a group",
    "as-of time": "the time for which lag, verdicts and findings are computed: by default the time of the newest "
    "record or snapshot of the cluster",
    "`is_provisional`": "TRUE: a later run may still change the row, because the interval or event has not ended, or "
    "because later records or snapshots may complete the row",
    "evidence": "the records that a row is based on; `groupscope dump` shows records",
    "in effect": "a commit takes effect when it is written; in a transaction, with the COMMIT marker. It is in effect "
    "until another commit replaces it or its offset is deleted",
    "assignment": "which member has which partitions, in one generation (classic) or target assignment (other types)",
    "rebalance": "the change from one assignment of a group to the next one",
    "claim": "in classic groups: the partitions that a member reports as its own when it joins (`owned_partitions`)",
    "withheld": "in cooperative rebalances: a partition that its owner must give up first. The next rebalance, a "
    "follow-up, assigns it",
    "stopped, unowned, unread": "a partition stops when its owner gives it up or loses it. It is unowned until a "
    "member owns it again, and unread while no member reads it. How long it was unread is an estimate with two bounds",
    "snapshot": "end offsets of topics, brokers and settings of a live cluster at one time: `groupscope capture` "
    "takes snapshots",
    "point": "the lag of one group on one partition at one snapshot: a row of `lag_points`",
    "time lag": "how long ago the oldest unread message was written",
    "reset": "committed offsets were moved or removed in another way than by reading messages",
    "rewind": "a member committed a lower offset than before, and no reset explains it",
    "verdict": "lag verdict: whether a group reads a partition well (`group_verdicts`). Assignment verdict: whether "
    "Kafka's assignor gives the same assignment (`assignment_audit`)",
    "metric, slice": "a metric is one number about a table; a slice is a part of its rows, such as those of one group",
    "expectation, suite": "an expectation is a condition that a metric must meet; a suite is the expectations of one "
    "table",
    "span, gated group": "a span is a range of messages whose data was validated before their commit (`groupscope "
    "gate --span`). A gated group has spans. A failed span can be overridden: somebody accepts its data until a time",
    "finding": "a problem that `audit` or `gate` reports. With a waiver, a finding does not count until a date",
}

INTRODUCTION = f"""# Tables

Generated from `schemas/`: all tables and views of the warehouse, with their columns. Each table is a Delta table at
`WAREHOUSE/<table>`, and its columns have these comments there too. `groupscope sql` knows all views; for other engines
`groupscope sql --print-views ENGINE` prints their SQL. Names and types are those of contract version
{CONTRACT_VERSION}; each Delta table has this number as its property `groupscope.contract_version`.
[Old and new names](renames.md) lists what earlier versions called them.

- All times are UTC, and days are UTC days. In other engines, set the time zone of the session to UTC: some views
  compute days with it. Columns have microseconds, but Kafka writes times in whole milliseconds.
- An unknown value is NULL, never -1. Only numbers that mean something in Kafka are negative: a committed offset, a
  generation of -1, member epochs -1 and -2, a topology epoch of -2.
- "null" says whether a column may be NULL, and the comment says when. Fields of structs may always be NULL. A column of
  a key may be NULL too: NULL then counts as one more value.
- Some comments begin with a type of group, such as "Classic:" or "Streams:", or with "Only 3.7:" (records of that
  release of Kafka). Only for these does the column have a value; otherwise it is NULL, unless the comment says more.
- The order of events is `offsets_partition, record_offset`, never time: clocks of brokers can go back.
- Topic ids have Kafka's form of 22 characters.
- `SELECT * FROM v_enums` lists the values of all columns with fixed values, and their meanings.

**Words of this page**
"""


def shown_type(kind: ColumnType) -> str:
    """Structs by that word alone: their fields have rows of their own."""
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
    words = [f"- **{word}**: {meaning}." for word, meaning in WORDS.items()]
    contents = [f"- [{each.name}](#{each.name}): {each.comment}" for each in shown]
    lines = [INTRODUCTION, *words, "", "**Tables and views**", "", *contents, ""]
    for each in shown:
        lines += view_lines(each) if isinstance(each, View) else table_lines(each)
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.tables", sys.argv[1:]))
