"""How sure a group of offsets alone is. What it is otherwise: `tests/replay/test_simple_groups.py`."""

from typing import Any

import pyarrow as pa
import pytest

from tests.builders.groups.named_rows import named_rows
from udfs.groups.fold import KnownPeriod
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.records import Moment
from udfs.groups.simple_groups import END_OF_LOG, Live, Replayed, Span, add_simple_groups, merged_spans
from udfs.log.gaps import Gaps


def moment(offset: int) -> Moment:
    return Moment(offset, offset * 10)


def live(first: int, last: int | None = None, is_cut: bool = False) -> Live:
    return Live(first, first * 10, last, None if last is None else last * 10, is_cut)


def spans(*rows: tuple[str, int, int | None]) -> dict[str, list[Span]]:
    names = ("group_id", "from_record_offset", "to_record_offset")
    return merged_spans(pa.table([list(column) for column in zip(*rows, strict=True)], names))


def test_offsets_that_are_only_possible_are_joined_by_group() -> None:
    rows = (("g", 5, 9), ("h", 6, 8), ("g", 9, 12), ("g", 20, None), ("g", 6, 7), ("g", 25, 30))
    assert spans(*rows) == {"g": [(5, 12), (20, END_OF_LOG)], "h": [(6, 8)]}


@pytest.mark.parametrize(("of_group", "known_of", "possible", "expected"), [
    # Its offsets now, or those that it had at its end, decide.
    ((5, None), [], (5, None), ["possible"]),
    ((5, None), [], (5, 9), ["certain"]),
    ((5, 12), [], (5, 9), ["certain"]),
    ((5, 12), [], (8, 12), ["possible"]),
    ((5, 12, True), [], (8, 12), ["possible"]),
    # A record of a group between: before it, and after it.
    ((5, None), [(7, 20)], (5, 30), ["possible", "certain"]),
    ((5, None), [(7, 20)], (8, None), ["certain", "possible"]),
    ((5, None), [(7, 20)], (7, 8), ["certain", "certain"]),
])  # fmt: skip
def test_a_group_is_no_surer_than_its_offsets(
    of_group: tuple[Any, ...], known_of: list[tuple[int, int]], possible: tuple[int, int | None], expected: list[str]
) -> None:
    rows, open_rows = RowsByTable(), RowsByTable()
    known: list[KnownPeriod] = [(moment(first), moment(last)) for first, last in known_of]
    replayed = Replayed(Gaps(), possible=spans(("g", *possible), ("other", 0, None)))
    add_simple_groups(rows, open_rows, {"g": [live(*of_group)]}, {"g": known}, replayed)
    result = [row for of in (rows, open_rows) for row in named_rows(of, "group_state_intervals")]
    assert [row["confidence"] for row in result] == expected
    assert {row["state"] for row in result} == {"Empty"}
