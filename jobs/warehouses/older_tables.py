"""Tables that an older release wrote: columns that came since are not in them. Readers take what may be NULL for NULL;
what must not be NULL, and rows of this release, do not fit."""

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable, Field

from jobs.output.failure import Failure
from schemas.tables import SUBJECTS, Table
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema
from udfs.sentences.name_lists import list_names

MOST_NAMED = 3
# What an older release wrote stays, with NULL in columns that came since: rows that no run makes again, and the state
# from which a replay goes on; and tables of which the next replay, lag or assignments makes all rows again.
MADE_ONCE = (
    *(table.name for table in SUBJECTS["decoded"]),
    *("findings", "gate_runs", "source_files", "cluster_snapshots", "replayed_partitions"),
)
MADE_AGAIN = (
    "membership_intervals",
    "ownership_intervals",
    "replayed_moves",
    "offset_resets",
    "assignment_audit",
)


def may_lack(table: Table, names: Sequence[str]) -> bool:
    """Whether the next run that writes to the table adds these columns."""
    new = [column for column in table.columns if column.name in names]
    return table.name in (*MADE_ONCE, *MADE_AGAIN) and all(column.is_nullable for column in new)


def lacking(delta: DeltaTable, table: Table) -> list[str]:
    there = {field.name for field in delta.schema().fields}
    return [column.name for column in table.columns if column.name not in there]


def add_columns(delta: DeltaTable, table: Table, names: Sequence[str], *_: object) -> None:
    schema = table_schema(table)
    delta.alter.add_columns([Field.from_arrow(schema.field(name)) for name in names])


def older(place: object, names: Sequence[str]) -> Failure:
    """`place`: the table's folder, or a file of it."""
    what = "the column" if len(names) == 1 else "the columns"
    line = f"was written by an older release and lacks {what} {list_names(names, MOST_NAMED)}"
    return Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place}: {line}; `groupscope doctor` says how to repair it")


def of_this_release(rows: pa.Table, table: Table, place: object) -> pa.Table:
    """All columns of rows that are written or compared. Those that this release does not know would be lost: with them
    the cast fails."""
    schema = table_schema(table)
    is_known = set(rows.column_names) <= set(schema.names)
    return with_missing_columns(rows, schema, place) if is_known else rows.cast(schema)


def with_missing_columns(rows: pa.Table, wanted: pa.Schema, place: object) -> pa.Table:
    """With NULL in columns that are not in the file."""
    missing = [field for field in wanted if field.name not in rows.column_names]
    if required := [field.name for field in missing if not field.nullable]:
        raise older(place, required)
    for field in missing:
        rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows.select(wanted.names).cast(wanted)
