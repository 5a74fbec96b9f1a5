"""Numbers of keys, and which row of a key is the newest or holds at a time, against plain loops."""

import numpy as np
import pyarrow as pa
import pytest

from udfs.arrays.nullable import NONE
from udfs.lag.as_of import NOWHERE, holding_at, key_codes, newest_at

# A time that is far from the others leaves no room for keys and times in one number.
FAR = 1 << 61


def slow_newest(keys: list[int], times: list[int], key: int, time: int) -> int:
    result = NOWHERE
    for row, (own, at) in enumerate(zip(keys, times, strict=True)):
        if own == key and at <= time and (result == NOWHERE or at >= times[result]):
            result = row
    return result


@pytest.mark.parametrize("odd", [None, NONE, FAR])
def test_the_newest_row_is_that_of_a_loop(rng: np.random.Generator, odd: int | None) -> None:
    for _ in range(200):
        keys, wanted_keys = (rng.integers(0, 4, rng.integers(0, 12)) for _ in range(2))
        times, wanted = (rng.integers(5, 12, len(each)) for each in (keys, wanted_keys))
        wanted += rng.integers(-9, 9, len(wanted))
        if rng.random() < 0.5:
            order = np.lexsort((times, keys))
            keys, times = keys[order], times[order]
        if odd is not None:
            times[rng.random(len(times)) < 0.3] = odd
        values = newest_at(keys, times, wanted_keys, wanted).tolist()
        pairs = zip(wanted_keys.tolist(), wanted.tolist(), strict=True)
        assert values == [slow_newest(keys.tolist(), times.tolist(), *pair) for pair in pairs]


@pytest.mark.parametrize("size", [1, 6, 3_000])
def test_numbers_of_keys_stand_in_the_order_of_their_values(rng: np.random.Generator, size: int) -> None:
    """Texts and codes of texts, in two tables."""
    names = ("group_id", "partition")
    texts = [[None if each == 0 else str(each) for each in rng.integers(0, size, size).tolist()] for _ in range(2)]
    tables = [
        pa.table({"group_id": pa.array(column, pa.string()), "partition": rng.integers(0, 5, size) * size})
        for column in texts
    ]
    tables[1] = tables[1].set_column(0, "group_id", tables[1].column("group_id").dictionary_encode())
    rows = [tuple(row[name] for name in names) for table in tables for row in table.to_pylist()]
    places = {row: place for place, row in enumerate(sorted(set(rows), key=lambda row: (row[0] is None, row)))}
    assert np.concatenate(key_codes(names, *tables)).tolist() == [places[row] for row in rows]


Interval = tuple[int, int, int]


def slow_holding(rows: list[Interval], key: int, place: int) -> int:
    for row, (own, begin, end) in enumerate(rows):
        if own == key and begin <= place and (end == NONE or place < end):
            return row
    return NOWHERE


def random_intervals(rng: np.random.Generator) -> list[Interval]:
    """Of each key some that follow each other, with gaps. NOWHERE is the key of rows that have none."""
    rows: list[Interval] = []
    for key in (NOWHERE, 0, 1, 2):
        bounds = np.unique(rng.integers(0, 12, int(rng.integers(0, 8)))).tolist()
        rows += [(key, begin, end) for begin, end in zip(bounds, [*bounds[1:], NONE], strict=False)]
    return [row for row in rows if rng.random() < 0.8]


@pytest.mark.parametrize("is_in_order", [True, False])
def test_an_interval_holds_from_its_begin_up_to_its_end(rng: np.random.Generator, *, is_in_order: bool) -> None:
    wanted = [(key, place) for key in (NOWHERE, 0, 1, 2, 3) for place in range(13)]
    asked = np.array(wanted, np.int64).T
    for _ in range(100):
        rows = random_intervals(rng)
        # A record may begin two intervals and end one of them.
        rows += [(key, begin, begin) for key, begin, _ in rows if rng.random() < 0.3]
        rows = sorted(rows) if is_in_order else [rows[place] for place in rng.permutation(len(rows))]
        result = holding_at(*np.array(rows, np.int64).reshape(len(rows), 3).T, *asked)
        assert result.tolist() == [NOWHERE if each[0] < 0 else slow_holding(rows, *each) for each in wanted]
