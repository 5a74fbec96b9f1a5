"""Reads the client properties file that Kafka's own tools take (--command-config)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.broker.client_security import portable, refuse_unknown
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

DEFAULTS_MS: Final = {
    "default.api.timeout.ms": 60_000,
    "request.timeout.ms": 30_000,
    "socket.connection.setup.timeout.ms": 10_000,
}
# An int in Java.
MOST_MS: Final = 2**31 - 1
# Python refuses to read thousands of digits.
MILLISECONDS: Final = re.compile(r"0*[0-9]{1,10}", re.ASCII)
NATURAL_LINE: Final = re.compile(r"\r\n|\n|\r")
ENTRY: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class ClientProperties:
    """It travels to tasks only by pickle. Its printed form contains no values."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def seconds(self, name: str) -> float:
        """Seconds, of a property whose name ends in `.ms`."""
        text = self.get(name, str(DEFAULTS_MS[name])).strip()
        if not MILLISECONDS.fullmatch(text) or int(text) > MOST_MS:
            line = f"client property {name}: {text!r} is no number of milliseconds from 0 to {MOST_MS}"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        return int(text) / 1000


def client_properties(path: Path | None) -> ClientProperties:
    """Without a file: PLAINTEXT."""
    if path is None:
        return ClientProperties()
    try:
        # In Java's encoding: other characters are written as escapes.
        text = path.read_bytes().decode("iso-8859-1")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Failure(ExitCode.UNREADABLE_INPUT, f"client properties {path}: {why}") from error
    try:
        values = dict(entries(text))
    except ValueError as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"client properties {path}: {error}") from error
    refuse_unknown(values)
    return ClientProperties(portable(values))


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values by the rules of java.util.Properties. A ValueError names the wrong key, but never a value."""
    for line in logical_lines(text):
        match = ENTRY.fullmatch(line)
        assert match is not None
        key = unescape(match[1], "a key")
        yield key, unescape(match[2], key)


def logical_lines(text: str) -> Iterator[str]:
    """Without comments, and with continued lines joined."""
    begun = ""
    for natural in NATURAL_LINE.split(text):
        line = natural.lstrip(" \t\f")
        # A continuation line is not a comment, unless everything before it was blank.
        if not begun and (not line or line[0] in "#!"):
            continue
        is_continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        begun += line[:-1] if is_continued else line
        if not is_continued:
            yield begun
            begun = ""
    if begun:
        yield begun


def unescape(text: str, key: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) > 1:
            return chr(int(escape[1:], 16))
        if escape == "u":
            raise ValueError(f"{key}: \\u without four hexadecimal digits")
        return ESCAPED.get(escape, escape)

    # Java's characters are halves of a pair if one is not enough.
    return ESCAPE.sub(character, text).encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
