"""Table functions in the words of Spark, temporary for one session or kept in a database."""

from collections.abc import Iterable

from jobs.queries.views import text_literal
from schemas.columns import Column, Type, sql_type
from schemas.history_functions import FUNCTIONS, Function

TIME = "time"
TIME_COMMENT = "The instant: a time, ISO 8601, or epoch milliseconds."
CLUSTER = Column("cluster", Type.STRING, "Only this cluster; left out: every one.")


def function_statement(function: Function, is_temporary: bool) -> str:
    # Only a VARIANT still tells what was given: to a TIMESTAMP Spark takes a number for seconds, without a word.
    arguments = [*map(declared, function.arguments), f"{TIME} VARIANT COMMENT {text_literal(TIME_COMMENT)}"]
    results = ",\n".join(f"  {declared(column)}" for column in function.columns)
    return (
        f"CREATE OR REPLACE {'TEMPORARY ' if is_temporary else ''}FUNCTION {function.name} (\n"
        f"  {', '.join(arguments)},\n"
        f"  {CLUSTER.name} STRING DEFAULT NULL COMMENT {text_literal(CLUSTER.comment)}\n)\n"
        f"RETURNS TABLE (\n{results}\n)\n"
        f"COMMENT {text_literal(function.comment)}\n"
        f"RETURN {query(function)}"
    )


def declared(column: Column) -> str:
    return f"{column.name} {sql_type(column.type)} COMMENT {text_literal(column.comment)}"


def query(function: Function) -> str:
    """An argument is told from a column of its name by the function's."""
    given = [f"found.{column.name} = {function.name}.{column.name}" for column in function.arguments]
    time = instant(f"{function.name}.{TIME}")
    conditions = [
        *given,
        f"(found.from_time IS NULL OR found.from_time <= {time})",
        f"(found.to_time > {time} OR found.to_time IS NULL AND found.is_open)",
        f"({function.name}.cluster IS NULL OR found.cluster = {function.name}.cluster)",
    ]
    columns = ", ".join(f"found.{column.name}" for column in function.columns)
    return f"SELECT {columns}\nFROM {function.reads} AS found\nWHERE {' AND '.join(conditions)}"


def instant(given: str) -> str:
    is_number = f"schema_of_variant({given}) RLIKE '^(BIGINT|DECIMAL|DOUBLE|FLOAT)'"
    return f"CASE WHEN {is_number} THEN timestamp_millis(CAST({given} AS BIGINT)) ELSE CAST({given} AS TIMESTAMP) END"


def readable(names: Iterable[str], tables: Iterable[str]) -> list[Function]:
    """Those of these names whose table is there."""
    there = set(tables)
    return [FUNCTIONS[name] for name in names if FUNCTIONS[name].reads in there]
