"""The order of rows in the replay's files."""

import numpy as np

from jobs.replaying.tables.history_files import merge_columns

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
