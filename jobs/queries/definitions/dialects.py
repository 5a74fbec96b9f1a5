"""The engines that definitions can be printed for, and what their dialects share."""

from collections.abc import Iterable
from enum import StrEnum

from schemas.declarations.columns import Column


class Dialect(StrEnum):
    SPARK = "spark"
    TRINO = "trino"
    DUCKDB = "duckdb"


def text_literal(text: str) -> str:
    """A doubled quote ends no literal anywhere. A backslash is an escape to Spark alone: comments hold none."""
    return "'" + text.replace("'", "''") + "'"


def comments(view: str, comment: str, columns: Iterable[Column]) -> list[str]:
    """As DuckDB has them: in statements of their own."""
    return [
        f"COMMENT ON VIEW {view} IS {text_literal(comment)}",
        *(f'COMMENT ON COLUMN {view}."{column.name}" IS {text_literal(column.comment)}' for column in columns),
    ]
