"""Checks that read rows: NULL in NOT NULL columns, repeated keys, and whether the counts of runs match the rows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.checks.check import REBUILD, Check, CheckedWarehouse, Finding, Status
from jobs.checks.key_slices import MOST_ROWS, rows_by_partition, slices
from jobs.output.progress import counting
from jobs.storage.places.place import Place
from schemas.tables import SUBJECTS, TABLES
from udfs.sentences.counts import counted

REJECTED = "rejected_records"
DECODED = [table.name for table in SUBJECTS["decoded"] if table.name != REJECTED]


def check_nulls(checked: CheckedWarehouse) -> Iterator[Finding]:
    with counting(checked.num_files, "files") as activity:
        for name in checked.tables:
            required = [column.name for column in TABLES[name].columns if not column.is_nullable]
            for path, footer in checked.footers(name):
                for column in required:
                    if nulls := num_nulls(path, footer, column):
                        number = counted(nulls, "NULL")
                        line = f"{number} in {path.name}, none were expected: Spark refuses to read the table"
                        yield Finding(Status.BROKEN, "nulls", f"{name}.{column}", line, checked.repair(name))
                activity.done += 1


def num_nulls(path: Place, footer: pq.FileMetaData, column: str) -> int:
    schema = footer.schema.to_arrow_schema()
    if column not in schema.names:
        return int(footer.num_rows)
    if not pa.types.is_nested(schema.field(column).type):
        leaf = next(i for i in range(footer.num_columns) if footer.row_group(0).column(i).path_in_schema == column)
        chunks = [footer.row_group(group).column(leaf) for group in range(footer.num_row_groups)]
        if all(each.is_stats_set and each.statistics.has_null_count for each in chunks):
            return int(sum(each.statistics.null_count for each in chunks))
    # For lists, the footer counts their elements.
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        return int(file.read([column], use_threads=False).column(column).null_count)


def check_keys(checked: CheckedWarehouse) -> Iterator[Finding]:
    with counting(checked.num_rows, "rows") as activity:
        for name in checked.tables:
            key = list(TABLES[name].key)
            number, example = 0, ""
            for rows in slices(checked, name, MOST_ROWS):
                twice = repeated_keys(rows, key)
                if twice.num_rows and not number:
                    first = twice.slice(0, 1).to_pylist()[0]
                    example = ", ".join(f"{column} {value}" for column, value in first.items())
                number += twice.num_rows
                activity.done += rows.num_rows
            if number:
                line = f"{counted(number, 'key')} duplicated, each in several rows, such as {example}"
                yield Finding(Status.BROKEN, "keys", name, line, checked.repair(name))


def repeated_keys(rows: pa.Table, key: list[str]) -> pa.Table:
    """Keys with several rows. NULL is a value like any other here."""
    if is_rising(rows):
        return rows.select(key).slice(0, 0)
    numbers = rows.select(key).group_by(key).aggregate([([], "count_all")])
    return numbers.filter(pc.greater(numbers.column("count_all"), 1)).select(key)


def is_rising(rows: pa.Table) -> bool:
    """Whether each row comes after the previous one in the log. This is the usual case, and needs no look at the
    keys."""
    if "position" not in rows.column_names or rows.num_rows < 2:
        return bool(rows.num_rows < 2)
    partition, position = (rows.column(name).to_numpy() for name in ("part", "position"))
    is_later = (partition[1:] == partition[:-1]) & (position[1:] > position[:-1])
    return bool(((partition[1:] > partition[:-1]) | is_later).all())


def check_counts(checked: CheckedWarehouse) -> Iterator[Finding]:
    """Whether the counts of reads in each run add up."""
    for run in checked.runs:
        for counts in run["ingest_counts"] or ():
            parts = counts["decoded"] + counts["rejected"] + counts["already_known"]
            if counts["read"] != parts:
                line = (
                    f"offsets partition {counts['offsets_partition']}: {counted(counts['read'], 'record')} read, but "
                    f"the sum of decoded, rejected and already known ones is {parts}"
                )
                yield Finding(Status.BROKEN, "counts", f"run {run['run_id']}", line, REBUILD)


def check_sums(checked: CheckedWarehouse) -> Iterator[Finding]:
    """Compares what runs report as written with the existing rows. Rejected rows may have been removed since."""
    said: dict[str, Counter[tuple[Any, Any]]] = {"decoded": Counter(), "rejected": Counter()}
    for run in checked.runs:
        for counts in run["ingest_counts"] or ():
            for kind, sums in said.items():
                sums[run["cluster"], counts["offsets_partition"]] += counts[kind]
    decoded: Counter[tuple[Any, Any]] = Counter()
    for name in DECODED:
        decoded.update(rows_by_partition(checked, name))
    rejected = rows_by_partition(checked, REJECTED)
    for place in sorted(said["decoded"] | decoded | rejected, key=str):
        where = f"{place[0]}, offsets partition {place[1]}"
        if said["decoded"][place] != decoded[place]:
            number, rows = counted(said["decoded"][place], "record"), counted(decoded[place], "row")
            line = f"runs report {number} decoded, but the decoded tables have {rows}"
            yield Finding(Status.BROKEN, "sums", where, line, REBUILD)
        if said["rejected"][place] < rejected[place]:
            number, rows = counted(said["rejected"][place], "record"), counted(rejected[place], "row")
            line = f"runs report {number} rejected, but {REJECTED} has {rows}"
            yield Finding(Status.BROKEN, "sums", where, line, REBUILD)


CHECKS = (
    Check("nulls", "all columns that must have a value have one", check_nulls),
    Check("keys", "no key is in two rows", check_keys),
    Check(
        "counts", "each run's records read are the sum of its decoded, rejected and already known ones", check_counts
    ),
    Check("sums", "the tables have as many rows as runs report decoded records", check_sums),
)
