"""Lag points as arrays, from which days and minutes are added up. Columns of a few words are codes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.words.history import Confidence
from schemas.words.lag import TimeLagMethod
from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, Positions, numbers
from udfs.arrays.texts import codes_of, encoded

Ranks = NDArray[np.int8]
# A subject is one number: group, topic and topic id, with this many bits each.
BITS = 21
LAST = (1 << BITS) - 1
# Codes are in the order of the words, so that the largest code is the last word.
GROUP_TYPES, METHODS, CERTAINTY = (
    sorted(each.value for each in words) for words in (GroupType, TimeLagMethod, Confidence)
)


@dataclass(frozen=True)
class PointColumns:
    """Times are microseconds; `subject` as in `Subjects`; `is_provisional`: may still change."""

    subject: Numbers
    time: Numbers
    is_provisional: Flags
    lag: Numbers
    time_lag: Numbers
    method: Ranks
    group_type: Ranks
    first_offset: Numbers
    last_offset: Numbers
    confidence: Ranks

    def __len__(self) -> int:
        return len(self.subject)

    def take(self, which: Flags | Positions | slice) -> "PointColumns":
        return PointColumns(*(getattr(self, each.name)[which] for each in fields(self)))

    @staticmethod
    def together(parts: Sequence["PointColumns"]) -> "PointColumns":
        if len(parts) == 1:
            return parts[0]
        return PointColumns(*(np.concatenate([getattr(part, each.name) for part in parts])
                              for each in fields(PointColumns)))  # fmt: skip


@dataclass
class Codes:
    """Codes of the texts of a column, the same in all pieces."""

    values: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    seen: pa.Array | None = None
    places: Numbers = field(default_factory=lambda: np.full(1, -1))

    def of(self, column: pa.ChunkedArray) -> Numbers:
        texts = encoded(column)
        if self.seen is None or not texts.dictionary.equals(self.seen):
            self.seen, known = texts.dictionary, len(self.values)
            both = pa.concat_arrays([self.values, self.seen.cast(pa.string())]).dictionary_encode()
            self.values = both.dictionary
            # Index -1 is the last place, so NULL stays NULL.
            self.places = np.append(both.indices.to_numpy()[known:].astype(np.int64), -1)
        return self.places[codes_of(texts)]


@dataclass
class Subjects:
    """Groups, topics and topic ids as numbers. Those of one group and topic differ only in their last bits."""

    groups: Codes = field(default_factory=Codes)
    topics: Codes = field(default_factory=Codes)
    topic_ids: Codes = field(default_factory=Codes)

    def of(self, rows: pa.Table) -> Numbers:
        group, topic, topic_id = (
            codes.of(rows.column(name))
            for codes, name in ((self.groups, "group_id"), (self.topics, "topic"), (self.topic_ids, "topic_id"))
        )
        return group << 2 * BITS | (topic + 1) << BITS | (topic_id + 1)

    def columns(self, subject: Numbers) -> dict[str, pa.Array]:
        return {
            "group_id": self.groups.values.take(pa.array(subject >> 2 * BITS)),
            "topic": text_or_null(self.topics.values, (subject >> BITS & LAST) - 1),
            "topic_id": text_or_null(self.topic_ids.values, (subject & LAST) - 1),
        }


def text_or_null(values: pa.Array, codes: Numbers) -> pa.Array:
    return values.take(pa.array(codes, mask=codes < 0))


def point_columns(rows: pa.Table, subjects: Subjects, settled_to: int | None) -> PointColumns:
    """Converts rows of lag_points."""
    time = numbers(rows.column("snapshot_time"))
    return PointColumns(
        subject=subjects.of(rows),
        time=time,
        is_provisional=np.ones(len(time), np.bool_) if settled_to is None else time >= settled_to,
        lag=numbers(rows.column("lag")),
        time_lag=numbers(rows.column("time_lag_ms")),
        method=ranks(rows.column("time_lag_method"), METHODS),
        group_type=ranks(rows.column("group_type"), GROUP_TYPES),
        first_offset=numbers(rows.column("evidence_first_offset")),
        last_offset=numbers(rows.column("evidence_last_offset")),
        confidence=ranks(rows.column("confidence"), CERTAINTY),
    )


def ranks(column: pa.ChunkedArray, words: Sequence[str]) -> Ranks:
    """Positions of texts in a list of words, as small integers: millions of them are kept."""
    texts = encoded(column)
    places = np.array([words.index(each) for each in texts.dictionary.to_pylist()], np.int8)
    return np.asarray(places[codes_of(texts)], np.int8)
