"""The order of rows in the replay's files."""

import numpy as np
import pytest

from jobs.replaying.tables.history_files import by_openness, by_openness_in_order, in_order, merge_columns
from schemas.tables import TABLES
from tests.make.tables import filled

SPANS = (3, 10, 2**20, 2**40, 2**62)


def test_keys_made_of_several_columns_order_rows_as_the_columns_do(rng: np.random.Generator) -> None:
    for _ in range(500):
        size = int(rng.integers(0, 40))
        columns = []
        for span in rng.choice(SPANS, int(rng.integers(1, 6))).tolist():
            # Few values of a wide column: ties let the next column decide.
            drawn = rng.integers(-span, span, 3)
            columns.append(rng.choice(drawn, size) if rng.random() < 0.5 else rng.integers(-span, span, size))
        expected = sorted(range(size), key=lambda row: [int(column[row]) for column in columns])
        assert np.lexsort(merge_columns(columns)[::-1]).tolist() == expected


def test_columns_that_fit_into_one_number_make_one_key() -> None:
    assert len(merge_columns([np.array([5, 7]), np.array([2**40, 0]), np.array([-1, 1])])) == 1
    assert len(merge_columns([np.array([0, 2**40]), np.array([2**40, 0])])) == 2


@pytest.mark.parametrize("share_open", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["offset_history", "replay_anomalies"])
def test_closed_and_open_rows_are_parted_and_each_in_order(
    rng: np.random.Generator, name: str, share_open: float
) -> None:
    """In one copy, as in two. Rows of `replay_anomalies` do not change."""
    for size in (0, 1, 30):
        rows = [
            {"group_id": f"g{rng.integers(3)}", "is_provisional": bool(rng.random() < share_open),
             "topic": f"t{rng.integers(3)}", "from_record_offset": int(rng.integers(9)),
             "record_offset": int(rng.integers(9))}
            for _ in range(size)
        ]  # fmt: skip
        table, columns = TABLES[name], {column.name for column in TABLES[name].columns}
        made = filled(table, [{key: each[key] for key in each if key in columns} for each in rows])
        expected = [(is_provisional, in_order(part, table)) for is_provisional, part in by_openness(table, made)]
        assert list(by_openness_in_order(table, made)) == expected
        assert sum(part.num_rows for _, part in expected) == size
