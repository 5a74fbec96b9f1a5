"""Columns of the document are read again as they were."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from jobs.reporting.columns import Answer, plain, words
from jobs.reporting.pages import packed
from tests.oracles.pages.documents import detail_of, table_of

NOW = datetime(2026, 11, 21, 3, 0, 0, 123_000, tzinfo=UTC)
MS = 1_795_230_000_123
TIMES = [NOW + timedelta(seconds=3 * place) for place in range(20)]
COLUMNS: dict[str, tuple[list[Any], list[Any]]] = {
    "numbers": ([1, 2, None], [1, 2, None]),
    "growing": ([*range(0, 60, 3)], [*range(0, 60, 3)]),
    "falling": ([5, 4, 3, 2, 1, 0, -1], [5, 4, 3, 2, 1, 0, -1]),
    "beyond what a browser holds": ([2**63 - 1, 1, -(2**63)], [str(2**63 - 1), 1, str(-(2**63))]),
    "growing beyond it": ([*range(6), 2**60], [*range(6), str(2**60)]),
    "growing from below it": ([-(2**63), *range(6)], [str(-(2**63)), *range(6)]),
    "fractions": ([0.5, 1234567.8, None, 2.0], [0.5, 1235000, None, 2]),
    "truths": ([True, None, False], [True, None, False]),
    "times": (TIMES, [MS + 3_000 * place for place in range(20)]),
    "times that are not all known": ([None, NOW, None, *TIMES[:3]], [None, MS, None, MS, MS + 3_000, MS + 6_000]),
    "no time at all": ([None] * 15, [None] * 15),
    "texts": (["a", None, "b"], ["a", None, "b"]),
    "texts that repeat": (["a", "b", None] * 8, ["a", "b", None] * 8),
    "hostile": (["a\x1b[31m\u202eb"], ["a\\x1b[31m\\u202eb"]),
    "lists": ([["a\x00"], []], [["a\\x00"], []]),
    "nothing": ([], []),
}


def typed(values: list[Any]) -> pa.Array:
    if any(isinstance(each, datetime) for each in values) or (values and not any(values) and len(values) == 15):
        return pa.array(values, pa.timestamp("us", "UTC"))
    return pa.array(values, pa.string()) if not values else pa.array(values)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_read_again_as_it_was(name: str) -> None:
    values, expected = COLUMNS[name]
    column = Answer(pa.table({"group_id": pa.array(["g"] * len(values), pa.string()), "x": typed(values)})).pack("g")
    assert plain(column["x"]) == expected
    assert detail_of({"details": {"g": packed({"lane": column})}}, "g")["lane"]["x"] == expected


def test_rows_are_those_of_their_group() -> None:
    answer = Answer(pa.table({"group_id": ["a", "a", "c"], "x": [1, 2, 3]}))
    assert [plain(answer.pack(group)["x"]) for group in "abc"] == [[1, 2], [], [3]]
    assert answer.whole() == {"x": [1, 2, 3]}
    assert answer.dicts("c") == [{"group_id": "c", "x": 3}]


@pytest.mark.parametrize("texts", [["a", None, "b"], ["a", "b", None] * 8, ["a\x1b"] * 9, []])
def test_few_words_for_many_rows_are_read_again_as_they_were(texts: list[str | None]) -> None:
    expected = [text and text.replace("\x1b", "\\x1b") for text in texts]
    assert table_of({"x": words(texts)})["x"] == plain(words(texts)) == expected


def test_a_column_may_stand_on_another() -> None:
    times = pa.table({
        "group_id": ["g"] * 20, "to": pa.array([None, *TIMES[1:]], pa.timestamp("us", "UTC")), "from": TIMES,
        "far": [2**40 + place for place in range(20)],
    })  # fmt: skip
    packed_table = Answer(times).pack("g", {"to": "from", "far": "from"})
    detail = detail_of({"details": {"g": packed({"lane": packed_table})}}, "g")["lane"]
    assert detail["to"] == [None, *(MS + 3_000 * place for place in range(1, 20))]
    assert detail["far"] == [2**40 + place for place in range(20)]


def test_what_would_stand_on_a_number_that_is_text_is_whole() -> None:
    table = pa.table({
        "group_id": ["g"] * 3, "offset": [-(2**63), 4, 5], "low": [-(2**63), 2, 5], "count": [1, 2, 3],
    })  # fmt: skip
    packed_table = Answer(table).pack("g", {"low": "offset", "offset": "count"})
    detail = detail_of({"details": {"g": packed({"lane": packed_table})}}, "g")["lane"]
    assert detail == {"offset": [str(-(2**63)), 4, 5], "low": [str(-(2**63)), 2, 5], "count": [1, 2, 3]}
