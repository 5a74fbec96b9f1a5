"""The engines that definitions can be printed for, and what their dialects share."""

from collections.abc import Iterable
from enum import StrEnum

from schemas.tables import Column


class Dialect(StrEnum):
    SPARK = "spark"
    TRINO = "trino"
    DUCKDB = "duckdb"


def text_literal(text: str) -> str:
    """A doubled quote ends no literal anywhere. A backslash is an escape to Spark alone: comments hold none."""
    return "'" + text.replace("'", "''") + "'"


def portable_text(text: str) -> str:
    """Any text, such as a group id, as SQL that every engine reads the same way, and a page can show.

    Inside quotes a backslash is an escape for Spark, and ${…} a variable. A function call for each such character would
    be nested too deeply for DuckDB if a name has a thousand of them: one call decodes the whole text."""
    if not any(map(is_uneven, text)):
        return text_literal(text)
    return f"url_decode({text_literal(''.join(map(url_encoded, text)))})"


def is_uneven(character: str) -> bool:
    return character in "\\$" or not character.isprintable()


def url_encoded(character: str) -> str:
    if character in "%+" or is_uneven(character):
        return "".join(f"%{byte:02X}" for byte in character.encode(errors="replace"))
    return character


def comments(view: str, comment: str, columns: Iterable[Column]) -> list[str]:
    """As DuckDB has them: in statements of their own."""
    return [
        f"COMMENT ON VIEW {view} IS {text_literal(comment)}",
        *(f'COMMENT ON COLUMN {view}."{column.name}" IS {text_literal(column.comment)}' for column in columns),
    ]
