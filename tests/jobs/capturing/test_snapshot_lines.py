"""Lines appended to a file of snapshots: whole ones, whatever happened to those before."""

import json
import multiprocessing
from pathlib import Path

import pytest

from jobs.capturing.snapshot_lines import append_line, check_appendable
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.runs.refused import mounted

LINE = '{"captured_at":1,"topics":[]}\n'


@pytest.mark.parametrize("before", ["", LINE, LINE * 3])
def test_a_line_comes_after_what_is_there(tmp_path: Path, before: str) -> None:
    path = tmp_path / "snapshots"
    if before:
        path.write_text(before)
    check_appendable(path)
    append_line(path, LINE)
    assert path.read_text() == before + LINE


@pytest.mark.parametrize("before", ["", LINE, LINE * 3])
@pytest.mark.parametrize("size", [1, 10, len(LINE) - 2, 70_000, 140_000])
def test_the_beginning_of_a_line_is_taken_away(tmp_path: Path, before: str, size: int) -> None:
    path = tmp_path / "snapshots"
    path.write_text(before + (LINE[:-3] + " " * size)[:size])
    append_line(path, LINE)
    assert path.read_text() == before + LINE


def test_a_line_that_lacks_only_its_end_is_a_line(tmp_path: Path) -> None:
    """So do editors leave it."""
    path = tmp_path / "snapshots"
    path.write_text(LINE + LINE.removesuffix("\n"))
    append_line(path, LINE)
    assert path.read_text() == LINE * 3


def test_nothing_of_anyone_elses_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "snapshots"
    for text in (LINE + "orders:0:7", '{"other":', LINE + '{"captured_at" '):
        path.write_text(text)
        with pytest.raises(Failure, match="its last line is incomplete"):
            append_line(path, LINE)
        assert path.read_text() == text


@pytest.mark.parametrize("content", [b"orders:0:7\n", b"\x1f\x8b\x08", b"[]\n", b"\n"])
def test_other_files_are_refused_before_anything_is_asked(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "snapshots"
    path.write_bytes(content)
    with pytest.raises(Failure, match="is not a file of snapshots") as failure:
        check_appendable(path)
    assert failure.value.code == ExitCode.USAGE
    assert path.read_bytes() == content


def test_lines_of_several_writers_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "snapshots"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(path, number)) for number in range(3)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
        assert each.exitcode == 0
    result = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(each["captured_at"] for each in result) == sorted([0, 1, 2] * 20)


def append_many(path: Path, number: int) -> None:
    for _ in range(20):
        append_line(path, json.dumps({"captured_at": number, "filling": "x" * 300_000}) + "\n")


def test_a_full_disk_takes_a_line_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "64k") as folder:
        path = folder / "snapshots"
        append_line(path, LINE)
        with pytest.raises(Failure, match="No space left on device") as failure:
            append_line(path, json.dumps({"captured_at": 2, "filling": "x" * 100_000}) + "\n")
        assert failure.value.code == ExitCode.FAILED
        assert path.read_text() == LINE
        append_line(path, LINE)
        assert path.read_text() == LINE * 2
