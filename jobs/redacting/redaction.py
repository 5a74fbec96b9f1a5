"""Names as keyed hashes, for a report or a copy of a warehouse that is given to others. Without the key nobody can see
which name a hash is of. Equal names have equal hashes, so what is shared still shows who did what.

The column says what kind of text a value is. Every text is a name, also in columns of later releases, until its column
is listed here. Bytes are always left out.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from jobs.output.failure import misuse, visible
from jobs.queries.definitions.dialects import portable_text
from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words.enumerations import enumerations
from schemas.words.records import INTERNAL_TOPICS
from udfs.assignors.answers import ASSIGNORS

KEY_BYTES, LEAST_KEY = 32, 16
HEX_DIGITS = 14
PREFIX = "id-"
NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?|true|false", re.IGNORECASE | re.ASCII)
# Comments, which may have apostrophes, and literals as portable_text writes them, with the column that one is equal to.
LITERAL = re.compile(r"--[^\n]*|(?:(?P<column>\w+) = )?(?P<text>url_decode\('(?:[^']|'')*'\)|'(?:[^']|'')*')")
WORD = re.compile(r"\w+")
SHORT = 8
# What Kafka's own clients write as protocols and assignors.
OF_KAFKA = frozenset(
    ["classic", "compatible", "connect", "consumer", "sessioned", "share", "simple", "sr", "stream", "streams", "v0"]
)
Row = Mapping[str, Any]


class Kind(Enum):
    # Kept: what we write, which has no name in it.
    OURS = "ours"
    # Kept if it is a word of Kafka or of ours; any other value is a name.
    WORD = "word"
    # Kept if it is a number or a truth value; any other value is a name.
    NUMBER = "number"
    # A sentence of ours: names in it are replaced.
    SENTENCE = "sentence"
    # A statement: names in its literals are replaced, not those of tables and columns.
    SQL = "sql"
    # Left out: a sentence or JSON made of raw bytes.
    RAW = "raw"
    NAME = "name"


# By the name of a column, joined by dots with those of fields in it; with the table where only that one has it.
KINDS = {
    place: kind
    for kind, places in {
        Kind.OURS: """
            algorithm assignment_audit.variant checks.name column_name config_hash contract_version expectation field
            group_settings.settings.key job known_defect metric migration out_of_range.field part
            rejected_records.reason run_id setting settings.key table_name table_versions.key type variant
        """,
        Kind.WORD: """
            actor assignor assignor_after assignor_before assignor_source assignors.name blockers.kind burrow_rule
            burrow_verdict change classic_member.supported_protocols.name client_library client_library_confidence
            confidence ended_by eta_unknown_reason group_protocol group_type kind leave_kind marker member_state mode
            outcome own_verdict partition_counts_source phase protocol protocol_type readiness role rule server_assignor
            settings_source severity source state suite time_lag_method trigger unknown_reason verdict via
        """,
        Kind.NUMBER: "group_settings.settings.value settings.value",
        Kind.SENTENCE: """
            blockers.detail checks.detail detail error first_evidence message observed reason skipped_reason slice
            subject threshold trigger_detail unread_basis waiver
        """,
        Kind.SQL: "query",
        Kind.RAW: "members.payload_json rejected_records.detail",
    }.items()
    for place in places.split()
}


def kind_of(table: str, path: str) -> Kind:
    return KINDS.get(f"{table}.{path}") or KINDS.get(path, Kind.NAME)


@cache
def known_words() -> frozenset[str]:
    """Every enumerated value, every table and view (suites have their names), and what Kafka's own clients write as
    protocols and assignors."""
    ours = {value for each in enumerations().values() for value in each.words}
    return frozenset(ours | set(TABLES) | set(VIEWS) | {name for _, name in ASSIGNORS} | OF_KAFKA)


class Redaction:
    """`names`: those that sentences and statements are searched for."""

    def __init__(self, key: bytes, names: Iterable[str]) -> None:
        self.key, self.words = key, known_words()
        known = {name for name in names if name}
        self.real_names = {self.name(name): name for name in known}
        # As sentences may have them.
        self.spelled = spelled_hashes({name: self.name(name) for name in known})
        self.lengths = lengths_by_first_word(self.spelled)
        # These cannot be keywords or columns, so they are replaced outside of a statement's literals too.
        beyond_words = {name: self.name(name) for name in known if len(name) > SHORT and not WORD.fullmatch(name)}
        self.lengths_in_sql = lengths_by_first_word(spelled_hashes(beyond_words))
        # Sentences come again; searching one for names takes long.
        self.sentences: dict[str, str] = {}

    def name(self, text: str) -> str:
        """Kafka lets groups have no name: none stays none. Its own topics are no secret, and are not counted as topics
        of users: a hash would be."""
        if not text or text in INTERNAL_TOPICS:
            return text
        digest = hmac.new(self.key, text.encode(errors="surrogatepass"), sha256).hexdigest()
        return PREFIX + digest[:HEX_DIGITS]

    def real(self, hashed: str) -> str:
        return self.real_names.get(hashed, hashed)

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        return [{column: self.value("", column, value) for column, value in row.items()} for row in rows]

    def value(self, table: str, path: str, value: Any) -> Any:
        match value:
            case str():
                return self.of_kind(kind_of(table, path), value)
            case bytes():
                return None
            case list():
                return [self.value(table, path, each) for each in value]
            case dict():
                return {name: self.value(table, f"{path}.{name}", each) for name, each in value.items()}
        return value

    def of_kind(self, kind: Kind, text: str) -> str | None:
        match kind:
            case Kind.OURS:
                return text
            case Kind.RAW:
                return None
            case Kind.NUMBER if NUMBER.fullmatch(text):
                return text
            case Kind.WORD if not self.words.isdisjoint(several := text.split(",")):
                # A setting has several assignors.
                return ",".join(each if each in self.words else self.name(each) for each in several)
            case Kind.SENTENCE:
                return self.text(text)
            case Kind.SQL:
                return LITERAL.sub(self.literal, "".join(self.parts(text, self.lengths_in_sql)))
        return self.name(text)

    def literal(self, match: re.Match[str]) -> str:
        """A literal that is a word and a name: the column says which. Other literals are parts of sentences."""
        text, column = match["text"], match["column"]
        is_word = text is None or text.strip("'") in self.words
        if is_word and (column is None or kind_of("", column) is not Kind.NAME):
            return match[0]
        return match[0].removesuffix(text) + self.spelled.get(text, text)

    def text(self, text: str) -> str:
        """A sentence."""
        if text not in self.sentences:
            self.sentences[text] = "".join(self.parts(text, self.lengths))
        return self.sentences[text]

    def parts(self, text: str, lengths: Mapping[str, Sequence[int]]) -> Iterator[str]:
        """The longest name at each place goes first: `orders` is the beginning of `orders-eu`."""
        edges = [place for place in range(len(text) + 1) if is_edge(text, place)]
        done = 0
        for start, next_edge in pairwise(edges):
            if start < done:
                continue
            ends = [start + length for length in lengths.get(text[start:next_edge], ())]
            end = next((end for end in ends if is_edge(text, end) and text[start:end] in self.spelled), None)
            if end is not None:
                yield text[done:start]
                yield self.spelled[text[start:end]]
                done = end
        yield text[done:]


class NoRedaction(Redaction):
    """Names as they are."""

    def __init__(self) -> None:
        self.real_names = {}

    def name(self, text: str) -> str:
        return text

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        return list(rows)


def is_hash(text: str | None) -> bool:
    return text is not None and re.fullmatch(f"{PREFIX}[0-9a-f]{{{HEX_DIGITS}}}", text) is not None


def is_edge(text: str, place: int) -> bool:
    """Names of letters and digits are whole words: `eu` is not in `queue`, and `orders` not in a view `v_orders`."""
    return not (0 < place < len(text) and is_in_words(text[place - 1]) and is_in_words(text[place]))


def is_in_words(character: str) -> bool:
    return character.isalnum() or character == "_"


def spelled_hashes(hashes: Mapping[str, str]) -> dict[str, str]:
    """What takes the place of each spelling of a name: as it is, as SQL has it, without what could move text, and a
    host without Java's slash."""
    result: dict[str, str] = {}
    # In order: a name of its own comes after the same host with a slash, and the same names always give the same.
    for name, hashed in sorted(hashes.items()):
        for each in {name, name.removeprefix("/")} - {""}:
            result |= dict.fromkeys((each, each.replace("'", "''"), visible(each)), hashed)
            # Where SQL has no plain literal of it.
            result[portable_text(each)] = portable_text(hashed)
    return result


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
        raise misuse(f"--redact-key {file}: {error.strerror}; give a file with a key") from None
    if len(key) < LEAST_KEY:
        line = f"has {len(key)} bytes; give {LEAST_KEY} or more, such as those of `openssl rand -hex 32`"
        raise misuse(f"--redact-key {file}: {line}")
    return Key(key, is_kept=True)
