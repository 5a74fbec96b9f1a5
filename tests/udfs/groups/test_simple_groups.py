"""Groups of offsets alone: they exist while they have a live key and no record says otherwise."""

from typing import Any

import pyarrow as pa
import pytest

from tests.builders.groups.named_rows import named_rows
from udfs.groups.fold import KnownPeriod
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.records import Moment
from udfs.groups.simple_groups import END_OF_LOG, Live, Replayed, Span, add_simple_groups, merged_spans
from udfs.log.gaps import Gaps


def stays(
    live: list[Live], known: list[KnownPeriod], replayed: Replayed | None = None
) -> list[tuple[int, int | None, str | None, bool]]:
    """From, to, what ended it, and whether it is open, of closed rows first."""
    rows, open_rows = RowsByTable(), RowsByTable()
    add_simple_groups(rows, open_rows, {"g": live}, {"g": known}, replayed or Replayed(Gaps()))
    return [
        (each["from_offset"], each["to_offset"], each["ended_by"], each["is_open"])
        for some in (rows, open_rows)
        for each in named_rows(some, "group_state_intervals")
    ]


def moment(offset: int) -> Moment:
    return Moment(offset, offset * 10)


def live(first: int, last: int | None = None, is_cut: bool = False) -> Live:
    return Live(first, first * 10, last, None if last is None else last * 10, is_cut)


def test_a_group_of_offsets_alone_is_an_empty_classic_group_without_type_and_generation() -> None:
    rows, open_rows = RowsByTable(), RowsByTable()
    add_simple_groups(rows, open_rows, {"g": [live(5)]}, {}, Replayed(Gaps()))
    (row,) = named_rows(open_rows, "group_state_intervals")
    assert (row["group_type"], row["state"], row["num_members"], row["from_time"]) == ("classic", "Empty", 0, 50)
    assert (row["generation_or_epoch"], row["protocol_type"], row["to_time"]) == (None, None, None)
    assert not rows.of["group_state_intervals"]


KNOWN = ("classic", "Empty", 0, "certain")
UNKNOWN = (None, None, None, "possible")


@pytest.mark.parametrize(
    ("live_of", "known_of", "gaps", "holes", "expected"),
    [
        ((12, None), [], ([10], [11]), [9], [UNKNOWN]),
        ((12, 15), [], ([10], [11]), [9], [UNKNOWN]),
        ((12, None), [(3, 9)], ([10], [11]), [9], [UNKNOWN]),
        # The last record before the hole deleted the group: it may be there again.
        ((12, None), [(3, 8)], ([10], [11]), [9], [UNKNOWN]),
        ((5, 9, True), [], ([10], [11]), [9], [KNOWN]),
        # Records of a group behind the hole, and it was deleted: nothing is left to be unknown.
        ((12, None), [(14, 20)], ([10], [11]), [9], [UNKNOWN, KNOWN]),
        ((22, None), [(3, 9), (14, 20)], ([10], [11]), [9], [KNOWN]),
        ((12, None), [(14, 20)], ([10, 30], [11, 40]), [9, 29], [UNKNOWN, KNOWN]),
        # The log was not seen from its beginning.
        ((12, None), [], ([0], [9]), [-1], [UNKNOWN]),
        ((12, None), [(10, 11)], ([0], [9]), [-1], [KNOWN]),
        # What the cleaner took, it took for the later record of the group: it may have been there all along.
        ((5, None), [(9, 20)], ([2], [3]), [], [UNKNOWN, KNOWN]),
        ((5, None), [(9, 20)], ([7], [7]), [], [UNKNOWN, KNOWN]),
        ((5, 9, True), [], ([7], [7]), [9], [UNKNOWN]),
        ((5, None), [], ([2], [3]), [], [KNOWN]),
        ((5, 9), [], ([2], [3]), [], [KNOWN]),
    ],
)
def test_where_records_of_a_group_may_stand_unseen_nobody_knows_what_group_it_is(
    live_of: tuple[Any, ...],
    known_of: list[tuple[int, int]],
    gaps: tuple[list[int], list[int]],
    holes: list[int],
    expected: list[tuple[str | int | None, ...]],
) -> None:
    rows, open_rows = RowsByTable(), RowsByTable()
    known: list[KnownPeriod] = [(moment(first), moment(last)) for first, last in known_of]
    add_simple_groups(rows, open_rows, {"g": [live(*live_of)]}, {"g": known}, Replayed(Gaps(*gaps), holes=holes))
    result = [row for of in (rows, open_rows) for row in named_rows(of, "group_state_intervals")]
    names = ("group_type", "state", "num_members", "confidence")
    assert [tuple(row[name] for name in names) for row in result] == expected


def test_it_ends_with_its_last_key_and_begins_again_with_the_next() -> None:
    assert stays([live(5, 9), live(12)], []) == [(5, 9, "deleted", False), (12, None, None, True)]


def test_it_is_no_simple_group_while_records_of_a_group_show_otherwise() -> None:
    known: list[KnownPeriod] = [(moment(7), moment(20)), (moment(30), None)]
    assert stays([live(5)], known) == [(5, 7, "next_state", False), (20, 30, "next_state", False)]
    assert stays([live(8, 25)], known) == [(20, 25, "deleted", False)]
    assert stays([live(8, 15)], known) == []
    assert stays([live(31)], known) == []
    assert stays([live(22)], known[:1]) == [(22, None, None, True)]


def test_a_tombstone_of_group_and_keys_in_one_write_leaves_no_simple_group_behind() -> None:
    assert stays([live(5, 20)], [(moment(3), moment(20))]) == []


def test_rows_of_earlier_runs_are_not_made_again_but_what_is_open_is() -> None:
    known: list[KnownPeriod] = [(moment(7), moment(20))]
    assert stays([live(5)], known, Replayed(Gaps(), after=25)) == [(20, None, None, True)]
    assert stays([live(5, 30)], known, Replayed(Gaps(), after=25)) == [(20, 30, "deleted", False)]


def test_a_hole_ends_it_as_a_hole() -> None:
    cut = live(5, 9, is_cut=True)
    assert stays([cut], [], Replayed(Gaps(), holes=[9])) == [(5, 9, "coverage_hole", False)]
    # A record of a group that is the last one before it ended it already.
    assert stays([cut], [(moment(9), moment(9))], Replayed(Gaps(), holes=[9])) == [(5, 9, "next_state", False)]
    assert stays([cut], [(moment(9), moment(9))], Replayed(Gaps(), after=9, holes=[9])) == []
    # By a run that did not know of the hole yet.
    assert stays([cut], [], Replayed(Gaps(), after=9, holes=[9])) == [(5, 9, "coverage_hole", False)]
    # The last record before it was the last key's deletion.
    assert stays([live(5, 9)], [], Replayed(Gaps(), holes=[9])) == [(5, 9, "deleted", False)]


def test_missing_records_make_its_ends_inexact() -> None:
    rows, open_rows = RowsByTable(), RowsByTable()
    add_simple_groups(rows, open_rows, {"g": [live(5, 9)]}, {}, Replayed(Gaps([2, 7], [3, 7])))
    (row,) = named_rows(rows, "group_state_intervals")
    assert (row["is_from_exact"], row["is_to_exact"]) == (False, False)


def spans(*rows: tuple[str, int, int | None]) -> dict[str, list[Span]]:
    names = ("group_id", "from_offset", "to_offset")
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
