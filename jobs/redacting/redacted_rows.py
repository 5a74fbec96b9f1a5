"""Rows of a table with hashes in the place of names; nested columns keep their form."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

import pyarrow as pa

from jobs.redacting.columns import Kind, is_in_sentences, kind_of, known_words
from jobs.reporting.rows.redaction import Redaction

NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?|true|false", re.IGNORECASE | re.ASCII)
# Comments, which may have apostrophes, and literals as portable_text writes them, with the column that one is equal to.
LITERAL = re.compile(r"--[^\n]*|(?:(?P<column>\w+) = )?(?P<text>url_decode\('(?:[^']|'')*'\)|'(?:[^']|'')*')")
WORD = re.compile(r"\w+")
SHORT = 8
Leaves = Iterator[tuple[str, pa.Array]]


def names_in(table: str, rows: pa.Table) -> Iterator[str]:
    """Names that sentences of any table may have."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        for path, texts in leaves(column.combine_chunks(), name):
            if kind_of(table, path) in (Kind.NAME, Kind.WORD) and is_in_sentences(path):
                known = known_words() if kind_of(table, path) is Kind.WORD else frozenset()
                yield from (text for text in texts.unique().to_pylist() if text and text not in known)


def leaves(array: pa.Array, path: str) -> Leaves:
    """The texts in a column, with their paths."""
    kind = array.type
    if pa.types.is_string(kind):
        yield path, array
    elif pa.types.is_map(kind):
        yield from leaves(array.keys, f"{path}.key")
        yield from leaves(array.items, f"{path}.value")
    elif pa.types.is_list(kind):
        yield from leaves(array.values, path)
    elif pa.types.is_struct(kind):
        for place, each in enumerate(kind):
            yield from leaves(array.field(place), f"{path}.{each.name}")


def redacted_rows(key: bytes, names: Set[str]) -> "RedactedRows":
    beyond_words = (name for name in names if len(name) > SHORT and not WORD.fullmatch(name))
    return RedactedRows(Redaction(key, names), Redaction(key, beyond_words))


@dataclass
class RedactedRows:
    redaction: Redaction
    # For statements: its names cannot be keywords or columns, so they are replaced outside of literals too.
    beyond_words: Redaction
    # Sentences come again; searching one for names takes long.
    sentences: dict[str, str] = field(default_factory=dict)

    def of(self, table: str, rows: pa.Table) -> pa.Table:
        columns = [
            self.array(table, column.combine_chunks(), name)
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=rows.schema)

    def array(self, table: str, array: pa.Array, path: str) -> pa.Array:
        kind = array.type
        if pa.types.is_string(kind):
            return self.texts(array, kind_of(table, path))
        if pa.types.is_binary(kind):
            return pa.nulls(len(array), kind)
        if not pa.types.is_nested(kind):
            return array
        is_null = array.is_null()
        if pa.types.is_map(kind):
            keys, values = self.array(table, array.keys, f"{path}.key"), self.array(table, array.items, f"{path}.value")
            return pa.MapArray.from_arrays(array.offsets, keys, values, kind, mask=is_null)
        if pa.types.is_list(kind):
            values = self.array(table, array.values, path)
            return pa.ListArray.from_arrays(array.offsets, values, kind, mask=is_null)
        fields = [self.array(table, array.field(at), f"{path}.{each.name}") for at, each in enumerate(kind)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=is_null)

    def texts(self, array: pa.Array, kind: Kind) -> pa.Array:
        """Each distinct text is looked at once."""
        if kind is Kind.OURS:
            return array
        if kind is Kind.RAW:
            return pa.nulls(len(array), array.type)
        encoded = array.dictionary_encode()
        replaced = [self.text(kind, text) for text in encoded.dictionary.to_pylist()]
        return pa.array(replaced, pa.string()).take(encoded.indices)

    def text(self, kind: Kind, text: str) -> str:
        match kind:
            case Kind.WORD if text in known_words():
                return text
            case Kind.NUMBER if NUMBER.fullmatch(text):
                return text
            case Kind.SENTENCE:
                if text not in self.sentences:
                    self.sentences[text] = self.redaction.text(text)
                return self.sentences[text]
            case Kind.SQL:
                return LITERAL.sub(self.literal, self.beyond_words.text(text))
        return self.redaction.name(text)

    def literal(self, match: re.Match[str]) -> str:
        """A literal that is a word and a name: the column says which. Other literals are parts of sentences."""
        text, column = match["text"], match["column"]
        is_word = text is None or text.strip("'") in known_words()
        if is_word and (column is None or kind_of("", column) is not Kind.NAME):
            return match[0]
        return match[0].removesuffix(text) + self.redaction.spelled.get(text, text)
