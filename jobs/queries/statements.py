"""Splits SQL text into statements as Spark does, and says whether a statement only reads."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

# As Spark reads them: quotes are escaped by backslashes (not in r'…'), names are quoted by backticks.
TOKEN = re.compile(
    r"""(?sx)
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<quoted> [rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*` )
    | (?P<word> \w+ )
    | (?P<space> \s+ )
    | (?P<mark> . )"""
)
READING = ("SELECT", "WITH", "VALUES", "SHOW", "DESCRIBE", "DESC", "EXPLAIN")
# After common table expressions any of these may be the statement proper.
VERBS = {"SELECT", "VALUES", "TABLE", "FROM", "INSERT", "UPDATE", "DELETE", "MERGE"}


class Token(NamedTuple):
    kind: str
    text: str


class Statement(NamedTuple):
    text: str
    # In capitals, those between parentheses left out.
    words: tuple[str, ...]


def statements_of(text: str) -> list[Statement]:
    """The texts between semicolons, without those that are only comments or blanks."""
    statements: list[Statement] = []
    tokens: list[Token] = []
    for token in (*tokens_of(text), Token("mark", ";")):
        if token != ("mark", ";"):
            tokens.append(token)
            continue
        if any(token.kind not in ("comment", "space") for token in tokens):
            statements.append(Statement("".join(token.text for token in tokens).strip(), tuple(outer_words(tokens))))
        tokens = []
    return statements


def tokens_of(text: str) -> Iterator[Token]:
    for match in TOKEN.finditer(text):
        yield Token(str(match.lastgroup), match[0])


def outer_words(tokens: list[Token]) -> Iterator[str]:
    """The first word, in parentheses or not, since a whole query may be in parentheses; then those outside."""
    depth = 0
    is_first = True
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if token.kind == "word" and (is_first or depth == 0):
            is_first = False
            yield token.text.upper()


def check_reading(statement: Statement) -> None:
    words = statement.words
    verb = words[0] if words else ""
    if verb == "WITH":
        verb = next((word for word in words[1:] if word in VERBS), "SELECT")
    if verb not in READING:
        raise only_reads(verb or statement.text[:20])


def only_reads(statement_word: str) -> Failure:
    expected = "only reads are allowed: SELECT, WITH, VALUES, SHOW, DESCRIBE, EXPLAIN"
    return Failure(ExitCode.USAGE, f"{statement_word}: {expected}")
