"""Where windows of the log end."""

from pathlib import Path

from jobs.replaying.log.files import MOST, MOST_WINDOW_BYTES, RowGroup, ends_of_windows


def row_groups(*sizes: tuple[int, int]) -> list[RowGroup]:
    """Of so many rows and bytes; each ends ten offsets after the one before."""
    return [
        RowGroup(Path("f"), number, 10 * number, 10 * number + 9, rows, is_mixed=False, num_bytes=size)
        for number, (rows, size) in enumerate(sizes)
    ]


def test_a_window_ends_when_it_has_enough_rows() -> None:
    assert list(ends_of_windows(row_groups((60, 1), (60, 1), (60, 1)), 100)) == [19, MOST]


def test_rows_of_many_bytes_end_a_window_early() -> None:
    half = MOST_WINDOW_BYTES // 2
    found = row_groups((1, 2 * half), (1, half), (1, half), (1, half))
    assert list(ends_of_windows(found, 100)) == [9, 29, MOST]
    assert list(ends_of_windows(found, 100, stops=[14])) == [9, 14, 29, MOST]
