"""Names as keyed hashes: for a report that is given to others. Without the key nobody can see which name a hash
is of. Equal names have equal hashes, so the pages still show who did what.

Columns are of three kinds. Words of ours and Kafka's stay. In texts of ours every known name is replaced. All others
are names, those of later releases too, until they are known to be words.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from jobs.output.failure import Failure, visible
from jobs.queries.definitions.dialects import portable_text
from jobs.reporting.rows.listings import Row
from schemas.words.exit_codes import ExitCode
from schemas.words.records import INTERNAL_TOPICS

KEY_BYTES, LEAST_KEY = 32, 16
HEX_DIGITS = 14
PREFIX = "id-"

WORDS = frozenset({
    "actor", "burrow_rule", "burrow_verdict", "change", "confidence",
    "contract_version", "ended_by", "group_type", "job", "kind", "known_defect", "leave_kind", "migration", "mode",
    "outcome", "own_verdict", "phase", "readiness", "role", "rule", "run_id", "severity", "state", "trigger", "type",
    "unknown_reason", "verdict",
})  # fmt: skip
# Words of Kafka, or names of the users' own classes.
WORDS_OR_NAMES = frozenset({"assignor", "assignor_after", "assignor_before"})
TEXTS = frozenset({"blockers", "message", "query", "reason", "subject", "trigger_detail", "unread_basis", "waiver"})


class Redaction:
    """`names`: those that texts are searched for. `words`: those of Kafka, where users may also write names."""

    def __init__(self, key: bytes, names: Iterable[str], words: Set[str] = frozenset()) -> None:
        self.key, self.words = key, words
        known = {name for name in names if name}
        self.real_names = {self.name(name): name for name in known}
        # As texts may have them.
        self.spelled = {spelling: hashed for name in known for spelling, hashed in spellings(name, self.name(name))}
        self.lengths = lengths_by_first_word(self.spelled)

    def name(self, text: str) -> str:
        """Kafka lets groups have no name: none stays none. Its own topics are no secret, and are not counted as topics
        of users: a hash would be."""
        if not text or text in INTERNAL_TOPICS:
            return text
        digest = hmac.new(self.key, text.encode(errors="surrogatepass"), sha256).hexdigest()
        return PREFIX + digest[:HEX_DIGITS]

    def real(self, hashed: str) -> str:
        return self.real_names.get(hashed, hashed)

    def text(self, text: str) -> str:
        return "".join(self.parts(text))

    def parts(self, text: str) -> Iterator[str]:
        """The longest name at each place goes first: `orders` is the beginning of `orders-eu`."""
        edges = [place for place in range(len(text) + 1) if is_edge(text, place)]
        done = 0
        for start, next_edge in pairwise(edges):
            if start < done:
                continue
            ends = [start + length for length in self.lengths.get(text[start:next_edge], ())]
            end = next((end for end in ends if is_edge(text, end) and text[start:end] in self.spelled), None)
            if end is not None:
                yield text[done:start]
                yield self.spelled[text[start:end]]
                done = end
        yield text[done:]

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        return [{column: self.value(column, value) for column, value in row.items()} for row in rows]

    def value(self, column: str, value: Any) -> Any:
        match value:
            case str() if column in WORDS:
                return value
            case str() if column in WORDS_OR_NAMES:
                # A setting has several.
                return ",".join(each if each in self.words else self.name(each) for each in value.split(","))
            case str():
                return self.text(value) if column in TEXTS else self.name(value)
            case bytes():
                return None
            case list():
                return [self.value(column, each) for each in value]
            case dict():
                return {name: self.value(name, each) for name, each in value.items()}
        return value


def is_hash(text: str | None) -> bool:
    return text is not None and re.fullmatch(f"{PREFIX}[0-9a-f]{{{HEX_DIGITS}}}", text) is not None


class NoRedaction(Redaction):
    """Names as they are."""

    def __init__(self) -> None:
        super().__init__(b"", ())

    def name(self, text: str) -> str:
        return text

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        return list(rows)


def is_edge(text: str, place: int) -> bool:
    """Names of letters and digits are whole words: `eu` is not in `queue`, and `orders` not in a view `v_orders`."""
    return not (0 < place < len(text) and is_in_words(text[place - 1]) and is_in_words(text[place]))


def is_in_words(character: str) -> bool:
    return character.isalnum() or character == "_"


def spellings(name: str, hashed: str) -> Iterator[tuple[str, str]]:
    """As it is, as SQL has it, without what could move text, and a host without Java's slash; each with what takes its
    place."""
    for each in {name, name.removeprefix("/")} - {""}:
        yield from ((spelling, hashed) for spelling in {each, each.replace("'", "''"), visible(each)})
        # Where SQL has no plain literal of it.
        yield portable_text(each), portable_text(hashed)


def lengths_by_first_word(spelled: Iterable[str]) -> Mapping[str, Sequence[int]]:
    """How long the spellings are that begin with a word, the longest first."""
    lengths_of: dict[str, set[int]] = {}
    for each in spelled:
        end = next(place for place in range(1, len(each) + 1) if is_edge(each, place))
        lengths_of.setdefault(each[:end], set()).add(len(each))
    return {word: sorted(lengths, reverse=True) for word, lengths in lengths_of.items()}


@dataclass(frozen=True)
class Key:
    """`is_kept`: it is in a file, so that another report can have the same hashes."""

    secret: bytes
    is_kept: bool


def key_of(file: Path | None) -> Key:
    """That of the file; without one another key each time."""
    if file is None:
        return Key(secrets.token_bytes(KEY_BYTES), is_kept=False)
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        raise Failure(ExitCode.USAGE, f"--redact-key {file}: {error.strerror}; give a file with a key") from None
    if len(key) < LEAST_KEY:
        line = f"has {len(key)} bytes; give {LEAST_KEY} or more, such as those of `openssl rand -hex 32`"
        raise Failure(ExitCode.USAGE, f"--redact-key {file}: {line}")
    return Key(key, is_kept=True)
