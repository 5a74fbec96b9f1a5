"""Segments that change while an ingest reads them: one clear line, and nothing changed."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jobs.ingestion.driver.writer
import jobs.ingestion.run
import jobs.ingestion.task.task
import jobs.sources.segment_files
from jobs.ingestion.task import plan
from jobs.sources import local_segments
from jobs.sources.segment_files import Span, framed_pieces
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import WrittenBatch, random_log
from tests.builders.warehouses.one_run import log, named, warehouse
from tests.runs.ingested import history, ingest
from tests.runs.refused import check_no_leftovers, refused, unchanged

__all__ = ["log", "warehouse"]

UNREADABLE = ExitCode.UNREADABLE_INPUT
Capsys = pytest.CaptureFixture[str]


# Files that change while they are read

Change = Callable[[Path], object]


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


CHANGES = [
    (shrink, "has shrunk while it was read"),
    (delete, "No such file or directory"),
    (replace, "another file replaced it while it was read"),
]


def before_tasks(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Does it when all is planned and nothing is read."""
    real = jobs.ingestion.task.task.run_task

    def changed_first(*expected: Any) -> Any:
        change()
        return real(*expected)

    monkeypatch.setattr(jobs.ingestion.driver.writer, "run_task", changed_first)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_segment_that_changes_before_it_is_read(
    tmp_path: Path,
    warehouse: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
    log: list[WrittenBatch],
    change: Change,
    message: str,
) -> None:
    path = named(tmp_path / "more")
    whole = b"".join(batch.bytes for batch in log)
    path.write_bytes(whole)
    source = f"segments:{tmp_path / 'more'}"
    with monkeypatch.context() as patched, unchanged(warehouse):
        before_tasks(patched, lambda: change(path))
        line = refused(warehouse, capsys, UNREADABLE, "--source", source)
    assert str(path) in line
    assert message in line
    path.write_bytes(whole)
    check_goes_on(tmp_path, warehouse, source)


def check_goes_on(tmp_path: Path, warehouse: Path, source: str) -> None:
    """A later run reads what the refused one did not."""
    ingest(warehouse, "--source", source)
    ingest(tmp_path / "direct", "--source", source)
    assert history(warehouse) == history(tmp_path / "direct")
    check_no_leftovers(warehouse)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("change", "message"), [(shrink, "has shrunk"), (delete, "No such file"), (replace, "another")]
)
def test_a_segment_that_changes_amid_reading(
    tmp_path: Path,
    warehouse: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
    log: list[WrittenBatch],
    rng: np.random.Generator,
    change: Change,
    message: str,
) -> None:
    path = named(tmp_path / "more")
    # More than Python reads ahead.
    whole = b"".join(batch.bytes for batch in [*log, *random_log(rng, 100, log[-1].base_offset + 8)])
    path.write_bytes(whole)
    source = f"segments:{tmp_path / 'more'}"

    def pieces(span: Span, piece_bytes: int) -> Iterator[Any]:
        # The first piece is read, decoded and waits to be written.
        for number, piece in enumerate(framed_pieces(span, 1_000)):
            yield piece
            if number == 0:
                change(path)

    with monkeypatch.context() as patched, unchanged(warehouse):
        patched.setattr(jobs.sources.segment_files, "framed_pieces", pieces)
        line = refused(warehouse, capsys, UNREADABLE, "--source", source)
    assert str(path) in line
    assert message in line
    path.write_bytes(whole)
    check_goes_on(tmp_path, warehouse, source)


@pytest.mark.parametrize("smallest_task", [16 << 20, 500], ids=["whole", "cut"])
def test_what_a_segment_grows_by_is_left_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: list[WrittenBatch], smallest_task: int
) -> None:
    """It is read to the size that it had when it was opened, wherever it is cut."""
    path, source = named(tmp_path / "more"), f"segments:{tmp_path / 'more'}"
    first, rest = (b"".join(batch.bytes for batch in part) for part in (log[:-2], log[-2:]))
    path.write_bytes(first)
    real = jobs.ingestion.run.readings

    def grown_first(*given: Any) -> Any:
        with path.open("ab") as file:
            file.write(rest)
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(jobs.ingestion.run, "readings", grown_first)
        patched.setattr(plan, "SMALLEST_TASK", smallest_task)
        patched.setattr(plan, "LARGEST_TASK", smallest_task)
        result = ingest(tmp_path / "w", "--source", source)
    assert result["read"] == sum(len(batch.records) for batch in log[:-2])
    result = ingest(tmp_path / "w", "--source", source)
    assert (result["read"], result["already_known"]) == (sum(len(batch.records) for batch in log[-2:]), 0)
    ingest(tmp_path / "direct", "--source", source)
    assert history(tmp_path / "w") == history(tmp_path / "direct")


def test_a_folder_that_vanishes_before_it_is_read(
    tmp_path: Path, warehouse: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, log: list[WrittenBatch]
) -> None:
    path = named(tmp_path / "more")
    path.write_bytes(b"".join(batch.bytes for batch in log))
    with monkeypatch.context() as patched, unchanged(warehouse):
        before_tasks(patched, lambda: shutil.rmtree(path.parent))
        line = refused(warehouse, capsys, UNREADABLE, "--source", f"segments:{tmp_path / 'more'}")
    assert line == f"{path}: No such file or directory; give a readable segment file"


def test_a_folder_that_vanishes_while_it_is_looked_for(
    tmp_path: Path, warehouse: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, log: list[WrittenBatch]
) -> None:
    path = named(tmp_path / "more")
    path.write_bytes(b"".join(batch.bytes for batch in log))
    real = local_segments.Walk.take_folder

    def vanished_first(walk: Any, folder: Path) -> None:
        shutil.rmtree(folder)
        real(walk, folder)

    with monkeypatch.context() as patched, unchanged(warehouse):
        patched.setattr(local_segments.Walk, "take_folder", vanished_first)
        line = refused(warehouse, capsys, UNREADABLE, "--source", f"segments:{tmp_path / 'more'}")
    assert line.startswith(f"{path.parent}: No such file or directory; make it readable")


def test_a_known_segment_that_is_deleted_while_a_run_is_planned(
    tmp_path: Path, warehouse: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at before it is read, to see whether it is the one that was read before."""
    (path,) = (tmp_path / "first").rglob(f"{0:020}.log")
    source, whole = f"segments:{path.parent}", path.read_bytes()
    real = jobs.ingestion.run.readings

    def deleted_first(*given: Any) -> Any:
        path.unlink()
        return real(*given)

    with monkeypatch.context() as patched, unchanged(warehouse):
        patched.setattr(jobs.ingestion.run, "readings", deleted_first)
        line = refused(warehouse, capsys, UNREADABLE, "--source", source)
    assert line == f"{path}: No such file or directory; give a readable segment file"
    path.write_bytes(whole)
    ingest(warehouse, "--source", source)
    check_no_leftovers(warehouse)
