"""Table functions in the dialect of each engine: temporary or stored functions in Spark, macros in DuckDB."""

from collections.abc import Iterable

from jobs.queries.definitions.column_types import duckdb_type
from jobs.queries.definitions.dialects import text_literal
from schemas.sql_files import part
from schemas.tables import FUNCTIONS, Column, Function, Type, sql_type

TIME = "time"
TIME_COMMENT = "The time: a TIMESTAMP, text in ISO 8601, or milliseconds since 1970."
CLUSTER = Column("cluster", Type.STRING, "Rows of this cluster only; without this argument, rows of all clusters.")


def function_statement(function: Function, is_temporary: bool) -> str:
    # Only a VARIANT keeps the type of the argument: for a TIMESTAMP, Spark silently reads a number as seconds.
    arguments = [*map(column_declaration, function.arguments), f"{TIME} VARIANT COMMENT {text_literal(TIME_COMMENT)}"]
    results = ",\n".join(f"  {column_declaration(column)}" for column in function.columns)
    return (
        f"CREATE OR REPLACE {'TEMPORARY ' if is_temporary else ''}FUNCTION {function.name} (\n"
        f"  {', '.join(arguments)},\n"
        f"  {CLUSTER.name} STRING DEFAULT NULL COMMENT {text_literal(CLUSTER.comment)}\n)\n"
        f"RETURNS TABLE (\n{results}\n)\n"
        f"COMMENT {text_literal(function.comment)}\n"
        f"RETURN {query(function)}"
    )


def column_declaration(column: Column) -> str:
    return f"{column.name} {sql_type(column.type)} COMMENT {text_literal(column.comment)}"


def query(function: Function) -> str:
    """The name of the function distinguishes an argument from a column of the same name."""
    conditions = rows_at(function, f"{function.name}.", instant(f"{function.name}.{TIME}"))
    return function_query(function, f"{function.reads} AS held\nWHERE {conditions}")


def function_query(function: Function, source: str) -> str:
    """The rows of a source, as far as they are of each group's newest offsets partition, or of each cluster's newest
    time."""
    column, newest = (
        ("evidence_partition", part("newest_partition"))
        if function.newest is None
        else (function.newest, f"max(held.{function.newest}) OVER (PARTITION BY held.cluster)")
    )
    every = f"{columns_of(function)}, {newest} AS newest\nFROM {source}"
    return f"{columns_of(function)}\nFROM (\n{every}\n) AS held\nWHERE held.{column} = held.newest"


def columns_of(function: Function) -> str:
    return "SELECT " + ", ".join(f"held.{column.name}" for column in function.columns)


def rows_at(function: Function, prefix: str, time: str) -> str:
    """The condition that a row `held` is the answer; `given`: the text before the name of each argument."""
    conditions = [
        *(f"held.{column.name} = {prefix}{column.name}" for column in function.arguments),
        *(holding(time) if function.newest is None else [f"held.{function.newest} <= {time}"]),
        f"({prefix}cluster IS NULL OR held.cluster = {prefix}cluster)",
    ]
    return " AND ".join(conditions)


def holding(time: str) -> list[str]:
    return [
        f"(held.from_time IS NULL OR held.from_time <= {time})",
        f"(held.to_time > {time} OR held.to_time IS NULL AND held.is_provisional)",
    ]


def instant(value: str) -> str:
    is_number = f"schema_of_variant({value}) RLIKE '^(BIGINT|DECIMAL|DOUBLE|FLOAT)'"
    return f"CASE WHEN {is_number} THEN timestamp_millis(CAST({value} AS BIGINT)) ELSE CAST({value} AS TIMESTAMP) END"


def duckdb_macro(function: Function) -> str:
    """DuckDB puts what is given into the text: in a query of its own, where no table is, it cannot be taken for a
    column of ours."""
    arguments = [*function.arguments, CLUSTER]
    given = [f"CAST({column.name} AS {duckdb_type(column.type)}) AS given_{column.name}" for column in arguments]
    names = ", ".join(column.name for column in function.arguments)
    return (
        f"CREATE OR REPLACE MACRO {function.name}({names}, {TIME}, {CLUSTER.name} := NULL) AS TABLE\n"
        + function_query(
            function,
            f"(SELECT {', '.join(given)}, {duckdb_instant(TIME)} AS given_{TIME}) AS given\n"
            f"JOIN {function.reads} AS held ON {rows_at(function, 'given_', f'given_{TIME}')}",
        )
    )


def duckdb_instant(value: str) -> str:
    """By way of text, since each branch must accept an argument of any type."""
    is_number = f"regexp_matches(typeof({value}), '^(U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|DECIMAL|DOUBLE|FLOAT)')"
    text = f"CAST({value} AS VARCHAR)"
    milliseconds = f"CAST(trunc(CAST({text} AS DECIMAL(38, 6))) AS BIGINT)"
    return f"CASE WHEN {is_number} THEN make_timestamptz(1000 * {milliseconds}) ELSE CAST({text} AS TIMESTAMPTZ) END"


def readable(names: Iterable[str], tables: Iterable[str]) -> list[Function]:
    """Those of these names whose table is there."""
    there = set(tables)
    return [FUNCTIONS[name] for name in names if FUNCTIONS[name].reads in there]
