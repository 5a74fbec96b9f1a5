"""Values of declared types are the same after they were stored as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from udfs.stored.codec import Codec, Form


class Colour(StrEnum):
    RED = "red"


class Size(Enum):
    LARGE = 7


class Point(NamedTuple):
    x: int
    colour: Colour | None = None
    hidden: str = "none"


@dataclass
class Whole:
    name: str
    points: tuple[Point, ...] = ()
    by_name: Mapping[str, Point] = field(default_factory=dict)
    by_place: dict[tuple[int, str], Size] = field(default_factory=dict)
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    classes: Sequence[NDArray[np.int64]] = ()
    some: frozenset[int] = frozenset()
    maybe: Point | None = None
    anything: Any = None
    raw: bytes = b""
    not_stored: int = 5


CODEC = Codec(
    stored={
        Point: ("x", "colour"),
        Whole: (*("name", "points", "by_name", "by_place", "numbers", "classes", "some", "maybe", "anything", "raw"),),
    },
    forms={bytes: Form(bytes.hex, bytes.fromhex)},
    once=(Point,),
)


def test_a_value_comes_back_as_it_was() -> None:
    shared = Point(1)
    value = Whole(
        "a\udc80ü", (shared, Point(-(2**63), Colour.RED), shared), {"b": shared, "a": Point(2)}, {(1, "x"): Size.LARGE},
        np.array([3, 1], np.int32), [np.array([2**40])], frozenset({9, 1}), None, [1, {"k": None}], b"\0\xff",
        not_stored=6,
    )  # fmt: skip
    plain = json.loads(json.dumps(CODEC.plain(Whole, value)))
    assert plain["points"] == [[1, None], [-(2**63), "red"], {"same_as": 0}]
    assert (plain["some"], plain["by_place"]) == ([1, 9], [[[1, "x"], 7]])
    assert "not_stored" not in plain
    back = CODEC.value(Whole, plain)
    assert CODEC.plain(Whole, back) == plain
    assert back.points[0] is back.points[2] is back.by_name["b"]
    assert (back.points, list(back.by_name), back.by_place) == (value.points, ["b", "a"], value.by_place)
    assert (back.numbers.dtype, back.classes[0].dtype) == (np.int32, np.int64)
    assert (back.maybe, back.anything, back.raw, back.not_stored) == (None, value.anything, value.raw, 5)
    assert (type(back.points), type(back.some)) == (tuple, set)


def test_what_older_releases_stored_lacks_newer_fields() -> None:
    assert CODEC.value(Whole, {"name": "a", "points": [[4]]}).points == (Point(4),)


@pytest.mark.parametrize("kind", [Colour | Point, complex, "Unknown"])
def test_a_type_that_cannot_be_stored_is_refused_at_once(kind: Any) -> None:
    with pytest.raises(TypeError):
        CODEC.form(kind)


def test_what_newer_releases_store_beside_is_left_out() -> None:
    assert CODEC.plain(Whole, CODEC.value(Whole, {"name": "a", "colour": 1})) == CODEC.plain(Whole, Whole("a"))
