"""Shortens member ids for display: as few characters as distinguish them within one answer."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

# Ids for clients of the classic protocol: client or instance id, a hyphen, and a UUID.
NAMED = re.compile(r"(.*-)([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})", re.DOTALL)
# Ids that clients of newer protocols choose: a UUID in Kafka's form with 22 characters.
RANDOM = re.compile(r"[A-Za-z0-9_-]{22}")
LENGTHS = (4, 8)
# Without the colon after a label.
WORD = re.compile(r"[^\s,;()]+?(?=:?(?:[\s,;()]|$))")


def short_ids(ids: Collection[str]) -> dict[str, str]:
    """By id. Ids that would look the same keep more characters, or all."""
    by_id = {each: each for each in ids}
    left = set(ids)
    for length in LENGTHS:
        by_short: dict[str, list[str]] = {}
        for each in left:
            by_short.setdefault(shorten(each, length), []).append(each)
        for text, some in by_short.items():
            if len(some) == 1 and (text not in by_id or text == some[0]):
                by_id[some[0]] = text
                left.discard(some[0])
    return by_id


def shorten(member_id: str, length: int) -> str:
    if named := NAMED.fullmatch(member_id):
        return named[1] + named[2][:length]
    return member_id[: max(length, LENGTHS[-1])] if RANDOM.fullmatch(member_id) else member_id


class ShortIds:
    """Texts and rows in which member ids are separate words."""

    def __init__(self, known: Collection[str], texts: Iterable[Any]) -> None:
        words = {word for text in texts if isinstance(text, str) for word in (text, *WORD.findall(text))}
        self.short = short_ids(words & set(known))

    def text(self, text: str) -> str:
        return self.short.get(text) or WORD.sub(lambda match: self.short.get(match[0], match[0]), text)

    def row(self, row: Sequence[Any]) -> list[Any]:
        return [self.text(cell) if isinstance(cell, str) else cell for cell in row]


def with_short_ids(rows: Sequence[Sequence[Any]], known: Collection[str]) -> list[list[Any]]:
    shortened = ShortIds(known, (cell for row in rows for cell in row))
    return [shortened.row(row) for row in rows]
