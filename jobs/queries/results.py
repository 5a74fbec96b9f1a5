"""The result of an SQL statement, the same for every engine."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from jobs.output.failure import Failure
from jobs.output.progress import doing
from jobs.output.rows import Row, print_rows, write_lines


class QueryResult(NamedTuple):
    names: Sequence[str]
    rows: Iterable[Row]


class Engine(Protocol):
    def statements(self, text: str) -> list[str]:
        """Those of the text, each of which only reads; what may write is a failure."""
        ...

    def is_whole(self, text: str) -> bool:
        """Whether a line after it would be of another statement."""
        ...

    def scope(self, statements: Sequence[str]) -> AbstractContextManager[Callable[[str], QueryResult]]:
        """Answers to these statements, with what they name in scope."""
        ...


def print_answers(engine: Engine, statements: Sequence[str], format: str, *, is_wide: bool) -> None:
    with engine.scope(statements) as answer:
        for number, statement in enumerate(statements, 1):
            if number > 1 and format != "json":
                write_lines([""])
            try:
                with doing("sql"):
                    print_answer(answer(statement), format, is_wide=is_wide)
            except Failure as failure:
                place = f"statement {number}: " if len(statements) > 1 else ""
                raise Failure(failure.code, f"{place}{failure}") from None


def print_answer(answer: QueryResult, format: str, *, is_wide: bool) -> None:
    if answer.names:
        print_rows(answer.names, answer.rows, format, is_wide=is_wide)
