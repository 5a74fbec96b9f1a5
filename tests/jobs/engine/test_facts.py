"""Facts of results survive their way as text: through a frame nothing else can go."""

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pytest

from jobs.engine.facts import restore, text_of
from jobs.ingestion.task.messages import Counts, IngestResult
from jobs.sources.log_span import SpanFacts
from schemas.words.records import RejectReason
from udfs.framing.log_bytes.framed_records import Claim, Rejected
from udfs.framing.rejected_ranges import RejectedRange

T = TypeVar("T")


class Colour(Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    colour: Colour | None = None


@dataclass
class Whole:
    number: int

    def to_plain(self):
        return [self.number] * 2

    @staticmethod
    def from_plain(value):
        return Whole(value[0])


@dataclass
class Odd(Generic[T]):
    many: list[T]
    pairs: dict[tuple[int, str], tuple[Point, ...]] = field(default_factory=dict)
    raw: bytes = b""
    some: set[int] = field(default_factory=set)
    counted: Counter[str] = field(default_factory=Counter)
    maybe: Point | None = None
    text: str | None = None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (
            Odd[Whole],
            Odd(
                [Whole(1), Whole(2)],
                {(1, "ü\n"): (Point(1), Point(-(2**63), Colour.RED))},
                bytes(range(256)),
                {3, 1},
                Counter({"a": 2}),
                Point(5),
                "",
            ),
        ),
        (Odd[int], Odd([])),
        (
            IngestResult,
            IngestResult(
                num_rows={"offset_commits": 3},
                facts=[SpanFacts("a b", 0, 9, 3, first_offset=2)],
                counts=[Counts(3, read=4, gaps=1)],
                reasons={"bad_crc": 1},
                retracted_records=[(3, 4, None), (3, 5, 6)],
                retracted_ranges=[("f", 7)],
                replaced=[(3, 8, 9)],
                damage=[
                    RejectedRange("f", Rejected(1, 2, RejectReason.BAD_CRC, "crc", "told", (Claim(1, 2, 2),)), 1, None)
                ],
                seen={3: [(1, 2)]},
                failure=(21, "told"),
            ),
        ),
    ],
)
def test_a_value_comes_back_as_it_was(kind, value):
    back = restore(kind, json.loads(text_of(value)))
    assert back == value
    assert text_of(back) == text_of(value)


def test_numbers_of_numpy_become_plain_ones():
    assert json.loads(text_of(Odd([np.int64(3), np.True_])))["many"] == [3, True]


def test_what_goes_another_way_is_left_out():
    assert "files" not in json.loads(text_of(IngestResult(), leave_out=("files",)))
