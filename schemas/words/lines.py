"""Files of declarations, line by line: `#` begins a comment, and a line that is further to the right by four or more
continues the one before."""

from collections import deque
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple, NoReturn


class WrongDeclaration(ValueError):
    """A line that cannot be read: its file and number, what it is, and what was expected."""


class Line(NamedTuple):
    place: str
    indent: int
    text: str

    def refuse(self, expected: str) -> NoReturn:
        raise WrongDeclaration(f"{self.place}: {self.text!r}: {expected}")


def lines_of(file: str, text: Iterable[str]) -> deque[Line]:
    """Lines without comments and empty ones, and each with those that continue it."""
    lines: deque[Line] = deque()
    for number, whole in enumerate(text, 1):
        words = whole.strip()
        indent = len(whole) - len(whole.lstrip())
        if words and not words.startswith("#"):
            if lines and indent >= lines[-1].indent + 4:
                last = lines.pop()
                lines.append(last._replace(text=f"{last.text} {words}"))
            else:
                lines.append(Line(f"{file}, line {number}", indent, words))
    return lines


def text_of(path: str) -> str:
    """A file of this package, also inside a zip."""
    return files("schemas").joinpath(path).read_text(encoding="utf-8")
