"""The columns that an archive must have, and how its rows become the rows of every archive."""

from collections.abc import Collection, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC, RejectReason
from udfs.sources.archive_rows import COLUMNS, PRODUCER_COLUMNS, REQUIRED, ArchiveColumn, Kind

INTEGERS = (ByteType, ShortType, IntegerType, LongType)
ACCEPTED: Mapping[Kind, tuple[type[DataType], ...]] = {
    Kind.TEXT: (StringType, BinaryType),
    Kind.INTEGER: INTEGERS,
    Kind.TIME: (TimestampType, TimestampNTZType, *INTEGERS),
    Kind.BYTES: (BinaryType,),
    Kind.FLAG: (BooleanType,),
}
WANTED = tuple(column.name for column in COLUMNS)
NANOSECONDS = 1_000_000


def check_names(place: str, names: Collection[str], of_folders: Collection[str]) -> None:
    missing = [name for name in REQUIRED if name not in names and name not in of_folders]
    if missing:
        line = f"{place}: {' and '.join(missing)} missing, columns found: {', '.join(names) or 'none'}"
        raise Failure(ExitCode.UNREADABLE_INPUT, line)


def check_types(place: str, schema: StructType) -> None:
    types = {field.name: field.dataType for field in schema}
    for column in COLUMNS:
        kind = types.get(column.name)
        if kind is not None and not isinstance(kind, ACCEPTED[column.kind]):
            line = f"{place}: column {column.name} is {kind.simpleString().upper()}, {column.kind} was expected"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)


def rows_of_columns(
    frame: DataFrame, source_file: Column, of_folders: Collection[str], has_nanoseconds: bool = False
) -> DataFrame:
    """The frame's rows with the columns of ARCHIVE_ROWS and `is_other_topic`. `of_folders`: columns that folders are
    named after. `has_nanoseconds`: times are BIGINT nanoseconds.
    """
    types = {field.name: field.dataType for field in frame.schema}
    wanted = [name for name in WANTED if name in types]
    source = frame.select(*wanted, source_file.alias("source_file"))
    columns = {name: F.col(name) for name in wanted}
    columns |= {name: F.regexp_extract("source_file", f"/{name}=([^/]+)/", 1) for name in of_folders}
    values = {name: convert(name, value, types.get(name), has_nanoseconds) for name, value in columns.items()}
    has_producers = known_producers(columns)
    flaw = problem(columns, values, has_producers)
    raw = F.to_json(F.struct(*wanted), {"ignoreNullFields": "false"}).cast("binary")
    read = source.select(
        *(sound(column, values.get(column.name)) for column in COLUMNS if column.kind is not Kind.TEXT),
        has_producers.alias("has_producers"),
        "source_file",
        flaw.alias("flaw"),
        F.when(flaw.isNotNull(), raw).alias("raw"),
        F.coalesce(values["topic"] != OFFSETS_TOPIC, F.lit(False)).alias("is_other_topic"),
    )
    problem_columns = {"problem": "flaw.reason", "problem_field": "flaw.field", "problem_detail": "flaw.detail"}
    return read.withColumns({name: F.col(place) for name, place in problem_columns.items()}).drop("flaw")


def convert(name: str, value: Column, kind: DataType | None, has_nanoseconds: bool) -> Column:
    """The value in the widest type of its kind; NULL if it does not fit. `kind` is None for a folder's name."""
    match name:
        case "timestamp":
            if has_nanoseconds:
                return F.floor((value - F.pmod(value, F.lit(NANOSECONDS))) / NANOSECONDS)
            is_integer = isinstance(kind, INTEGERS)
            return value.cast("bigint") if is_integer else F.unix_millis(value.cast("timestamp"))
        case "topic":
            return value.cast("string")
        case "key" | "value" | "is_transactional" | "is_control":
            return value
        case _:
            return value.try_cast("bigint")


OUTPUT_TYPES = {"partition": "int", "producer_epoch": "smallint", "leader_epoch": "int"}
NULL_TYPES = {Kind.INTEGER: "bigint", Kind.TIME: "bigint", Kind.BYTES: "binary", Kind.FLAG: "boolean"}


def sound(column: ArchiveColumn, value: Column | None) -> Column:
    """The column as it is published: NULL if the value is out of bounds."""
    name = "timestamp_ms" if column.kind is Kind.TIME else column.name
    kind = OUTPUT_TYPES.get(column.name, NULL_TYPES[column.kind])
    if value is None:
        return F.lit(None).cast(kind).alias(name)
    if column.kind is not Kind.INTEGER:
        return value.alias(name)
    return F.when(value.between(column.lowest, column.highest), value).cast(kind).alias(name)


def known_producers(columns: Mapping[str, Column]) -> Column:
    if any(name not in columns for name in PRODUCER_COLUMNS):
        return F.lit(False)
    return columns["is_transactional"].isNotNull() & columns["is_control"].isNotNull()


def problem(columns: Mapping[str, Column], values: Mapping[str, Column], has_producers: Column) -> Column:
    """The first reason why the row is not a record."""
    checks = [check(column, columns[column.name], values[column.name]) for column in COLUMNS if column.name in columns]
    if all(name in columns for name in PRODUCER_COLUMNS):
        is_homeless = has_producers & columns["is_transactional"] & columns["producer_id"].isNull()
        checks.append(
            F.when(
                is_homeless,
                reject("producer_id", F.lit("null although is_transactional is true: the record needs one")),
            )
        )
    return F.coalesce(*checks)


def check(column: ArchiveColumn, stored: Column, value: Column) -> Column:
    is_bad = F.lit(False)
    if column.kind is Kind.INTEGER:
        is_bad = stored.isNotNull() & ~F.coalesce(value.between(column.lowest, column.highest), F.lit(False))
    if not column.has_nulls:
        is_bad |= stored.isNull()
    expected = column.expected_text if column.kind is Kind.INTEGER else column.kind
    detail = F.concat(F.coalesce(stored.cast("string"), F.lit("null")), F.lit(f", {expected} expected"))
    return F.when(is_bad, reject(column.name, detail))


def reject(field: str, detail: Column) -> Column:
    reason = F.lit(RejectReason.BAD_COLUMN.value)
    return F.struct(reason.alias("reason"), F.lit(field).alias("field"), detail.alias("detail"))


def union(frames: Collection[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)
