"""Ranges of keys, against what their description says."""

from collections import Counter
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest

from udfs.lag.key_ranges import parts_by_range, ranges_of, rows_by_key

Key = tuple[str, str, int]


def drawn_keys(rng: np.random.Generator) -> list[Key]:
    """Of small groups, and of some large ones with one or several large keys."""
    keys: list[Key] = []
    for group in range(int(rng.integers(1, 30))):
        for partition in range(int(rng.integers(1, 6))):
            size = int(rng.choice([1, 3, 20, 150], p=[0.5, 0.3, 0.15, 0.05]))
            keys += [(f"g{group:02}", f"t{partition % 2}", partition)] * size
    return keys


def rows_of(keys: list[Key]) -> pa.Table:
    groups, topics, partitions = zip(*keys, strict=True)
    return pa.table(
        {
            "group_id": pa.array(groups), "topic": pa.array(topics), "topic_id": pa.nulls(len(keys), pa.string()),
            "partition": pa.array(partitions, pa.int32()), "place": pa.array(range(len(keys))),
        }
    )  # fmt: skip


def keys_of(rows: pa.Table) -> list[Key]:
    columns = (rows.column(name).to_pylist() for name in ("group_id", "topic", "partition"))
    return [*zip(*columns, strict=True)]


@pytest.mark.parametrize("turn", range(8))
@pytest.mark.parametrize("most_rows", [1, 40, 1000])
def test_ranges_cover_all_keys_in_order_and_keep_small_groups_whole(
    rng: np.random.Generator, turn: int, most_rows: int
) -> None:
    keys = drawn_keys(rng)
    rng.shuffle(keys)
    halves = [keys[: len(keys) // 2], keys[len(keys) // 2 :]]
    lists = ranges_of([rows_by_key(rows_of(half)) for half in halves if half], most_rows)
    of_group, of_key, rows = Counter(key[0] for key in keys), Counter(keys), rows_of(keys)
    assert [each.number for each in chain(*lists)] == [*range(sum(map(len, lists)))]
    parts = [[keys_of(each.rows(rows)) for each in some] for some in lists]
    assert [key for some in parts for part in some for key in sorted(part)] == sorted(keys)
    seen: set[str] = set()
    owned = rows_of([(group, "s", 9) for group in of_group])
    for some, ranges in zip(parts, lists, strict=True):
        own = {key[0] for part in some for key in part}
        assert {key[0] for keys in ranges for key in keys_of(keys.rows(owned))} == own
        assert {each for keys in ranges for each in keys.groups.rows(rows).column("group_id").to_pylist()} == own
        assert not own & seen
        seen |= own
        size = sum(map(len, some))
        assert size < most_rows + max(of_group[group] for group in own)
        assert len(some) == 1 or size >= 2 * most_rows
        if size >= 2 * most_rows:
            assert max(map(len, some)) < most_rows + max(map(of_key.__getitem__, chain(*some)))


@pytest.mark.parametrize("is_sorted", [False, True])
def test_rows_of_each_range_stay_in_their_order(rng: np.random.Generator, is_sorted: bool) -> None:
    keys = drawn_keys(rng)
    if not is_sorted:
        rng.shuffle(keys)
    rows = rows_of(keys)
    every = [*chain(*ranges_of([rows_by_key(rows)], 5))]
    parts = dict(parts_by_range(every[0].bounds, rows))
    assert {*parts} == {each.number for each in every}
    for each in every:
        assert parts[each.number].equals(each.rows(rows).combine_chunks())
