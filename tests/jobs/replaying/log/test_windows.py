"""Where windows of the log end."""

import random
from pathlib import Path

import pytest

from jobs.replaying.log.partition import MOST_WINDOW_BYTES, ends_of_windows
from jobs.replaying.log.row_groups import MOST, RowGroup
from jobs.replaying.partition import commit_pass
from jobs.storage.places.local_place import LocalPlace
from tests.builders.generated.log import Log
from tests.builders.logs.short_logs import LogPart
from tests.jobs.replaying.runs.test_in_memory import commit, deletion
from tests.make.log import COMMIT, T0
from tests.runs.ingested import rows
from tests.runs.replayed_logs import replay
from tests.runs.warehouse_runs import ingest, write


def row_groups(*sizes: tuple[int, int]) -> list[RowGroup]:
    """Of so many rows and bytes; each ends ten offsets after the one before."""
    return [
        RowGroup(LocalPlace(Path("f")), number, 10 * number, 10 * number + 9, rows, is_mixed=False, num_bytes=size)
        for number, (rows, size) in enumerate(sizes)
    ]


def test_a_window_ends_when_it_has_enough_rows() -> None:
    assert list(ends_of_windows(row_groups((60, 1), (60, 1), (60, 1)), 100)) == [19, MOST]


def test_rows_of_many_bytes_end_a_window_early() -> None:
    half = MOST_WINDOW_BYTES // 2
    result = row_groups((1, 2 * half), (1, half), (1, half), (1, half))
    assert list(ends_of_windows(result, 100)) == [9, 29, MOST]
    assert list(ends_of_windows(result, 100, stops=[14])) == [9, 14, 29, MOST]


def test_a_write_that_deletes_waits_through_windows_without_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of the write may follow, but here the next window has only the marker of a transaction, and the last one
    nothing."""
    monkeypatch.setattr(commit_pass, "WINDOW_ROWS", 1)
    log = Log(random.Random(0))
    log.append([(T0, commit("g")), (T0, commit("other"))])
    log.append([(T0 + 1, commit("other", partition=1))], producer_id=1)
    log.open = {1: [1]}
    log.append([(T0 + 5, deletion("g"))])
    log.end(1, COMMIT)
    write(LogPart(0, 0, 4, tuple(log.batches)), tmp_path / "log")
    ingest(tmp_path / "w", tmp_path / "log")
    replay(tmp_path / "w")
    result = {
        (row["group_id"], row["partition"], row["to_record_offset"]) for row in rows(tmp_path / "w", "offset_history")
    }
    assert result == {("g", 0, 3), ("other", 0, None), ("other", 1, None)}
