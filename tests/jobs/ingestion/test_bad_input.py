"""Input and warehouses that an ingest cannot use: one clear line, the contract's exit code, and nothing changed."""

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jobs.ingestion.driver.writer
import jobs.ingestion.run
import jobs.ingestion.task.task
import jobs.sources.segment_files
from jobs.sources.segment_files import Span, framed_pieces
from jobs.warehouses.failpoints import VARIABLE
from jobs.warehouses.warehouse_marker import MARKER
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import WrittenBatch, random_log, write_copy
from tests.jobs.ingested import history, ingest, run_ingest, spawned
from tests.jobs.progress_lines import beside_progress
from tests.jobs.refused import check_no_leftovers, fill, mounted, refused, unchanged

UNREADABLE, USAGE, UNUSABLE = ExitCode.UNREADABLE_INPUT, ExitCode.USAGE, ExitCode.UNUSABLE_WAREHOUSE
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def log(rng: np.random.Generator) -> list[WrittenBatch]:
    return random_log(rng, 12)


@pytest.fixture
def warehouse(tmp_path: Path, log: list[WrittenBatch], rng: np.random.Generator) -> Path:
    """With one run in it."""
    ingest(tmp_path / "w", "--source", f"segments:{write_copy(tmp_path / 'first', 3, log[:4], rng)}")
    return tmp_path / "w"


def named(path: Path) -> Path:
    """A segment's place in a folder of a partition."""
    folder = path / "__consumer_offsets-3"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{0:020}.log"


# Places


def no_segments(root: Path) -> str:
    (root / "__consumer_offsets-3").mkdir(parents=True)
    (root / "__consumer_offsets-3" / "00000000000000000000.index").write_bytes(b"\0" * 8)
    (root / "__consumer_offsets-3" / "00000000000000000000.log.deleted").write_bytes(b"\0" * 8)
    return f"segments:{root}"


def missing(root: Path) -> str:
    return f"segments:{root / 'none'}"


def no_match(root: Path) -> str:
    return f"segments:{root}/*-copies"


def dangling(root: Path) -> str:
    named(root).symlink_to(root / "gone.log")
    return f"segments:{root}"


def folder_named_like_a_file(root: Path) -> str:
    named(root).mkdir()
    return f"segments:{root}"


PLACES = [
    (no_segments, "no segment files"),
    (missing, "no such folder"),
    (no_match, "nothing matches"),
    (dangling, "00000000000000000000.log: No such file or directory"),
    (folder_named_like_a_file, "00000000000000000000.log: Is a directory"),
]


@pytest.mark.parametrize(("make", "told"), PLACES)
def test_a_place_without_readable_segments(
    tmp_path: Path, warehouse: Path, capsys: Capsys, make: Callable[[Path], str], told: str
) -> None:
    (tmp_path / "bad").mkdir()
    with unchanged(warehouse):
        line = refused(warehouse, capsys, UNREADABLE, "--source", make(tmp_path / "bad"))
    assert str(tmp_path) in line
    assert told in line
    assert any(words in line for words in ("; give ", "; add ", "; run "))


def test_an_unreadable_file_beside_good_ones_lets_none_in(
    tmp_path: Path, warehouse: Path, capsys: Capsys, log: list[WrittenBatch], rng: np.random.Generator
) -> None:
    source = write_copy(tmp_path / "more", 3, log, rng)
    (source / "__consumer_offsets-3" / "99999999999999999999.log").symlink_to(tmp_path / "gone.log")
    with unchanged(warehouse):
        refused(warehouse, capsys, UNREADABLE, "--source", f"segments:{source}")


def test_a_file_elsewhere_needs_a_partition(
    tmp_path: Path, warehouse: Path, capsys: Capsys, log: list[WrittenBatch]
) -> None:
    path = tmp_path / "elsewhere" / "copy.log"
    path.parent.mkdir()
    path.write_bytes(b"".join(batch.bytes for batch in log))
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", f"segments:{path}")
    assert "; add --offsets-partition N" in line
    found = ingest(warehouse, "--source", f"segments:{path}", "--offsets-partition", "5")
    assert found["read"] == found["decoded"] + found["rejected"] == sum(len(batch.records) for batch in log)


@pytest.mark.parametrize("partition", ["-1", "3000000000", "five"])
def test_an_offsets_partition_is_a_small_whole_number(tmp_path: Path, capsys: Capsys, partition: str) -> None:
    code = run_ingest(tmp_path / "w", "--source", f"segments:{tmp_path}", "--offsets-partition", partition)
    assert code == USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "--offsets-partition" in line
    assert not (tmp_path / "w").exists()


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

    def changed_first(*told: Any) -> Any:
        change()
        return real(*told)

    monkeypatch.setattr(jobs.ingestion.driver.writer, "run_task", changed_first)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_a_segment_that_changes_before_it_is_read(
    tmp_path: Path,
    warehouse: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
    log: list[WrittenBatch],
    change: Change,
    told: str,
) -> None:
    path = named(tmp_path / "more")
    whole = b"".join(batch.bytes for batch in log)
    path.write_bytes(whole)
    source = f"segments:{tmp_path / 'more'}"
    with monkeypatch.context() as patched, unchanged(warehouse):
        before_tasks(patched, lambda: change(path))
        line = refused(warehouse, capsys, UNREADABLE, "--source", source)
    assert str(path) in line
    assert told in line
    path.write_bytes(whole)
    check_goes_on(tmp_path, warehouse, source)


def check_goes_on(tmp_path: Path, warehouse: Path, source: str) -> None:
    """A later run reads what the refused one did not."""
    ingest(warehouse, "--source", source)
    ingest(tmp_path / "direct", "--source", source)
    assert history(warehouse) == history(tmp_path / "direct")
    check_no_leftovers(warehouse)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("change", "told"), [(shrink, "has shrunk"), (delete, "No such file"), (replace, "another")])
def test_a_segment_that_changes_amid_reading(
    tmp_path: Path,
    warehouse: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
    log: list[WrittenBatch],
    rng: np.random.Generator,
    change: Change,
    told: str,
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
    assert told in line
    path.write_bytes(whole)
    check_goes_on(tmp_path, warehouse, source)


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


# Clusters


def test_two_clusters_of_one_warehouse_are_told_apart_by_name(
    tmp_path: Path, warehouse: Path, capsys: Capsys, log: list[WrittenBatch], rng: np.random.Generator
) -> None:
    other = f"segments:{write_copy(tmp_path / 'second', 3, random_log(rng, 5), rng)}"
    assert ingest(warehouse, "--source", other, "--cluster", "second")["cluster"] == "second"
    more = f"segments:{write_copy(tmp_path / 'more', 3, log, rng)}"
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", more)
    assert line == "the warehouse holds several clusters; add --cluster with one of default, second"
    assert ingest(warehouse, "--source", more, "--cluster", "default")["cluster"] == "default"


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_a_cluster_has_a_name_that_can_be_printed(tmp_path: Path, capsys: Capsys, name: str) -> None:
    assert run_ingest(tmp_path / "w", "--source", f"segments:{tmp_path}", "--cluster", name) == USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "--cluster" in line


# Warehouses


@pytest.fixture
def source(tmp_path: Path, log: list[WrittenBatch], rng: np.random.Generator) -> str:
    return f"segments:{write_copy(tmp_path / 'more', 3, log, rng)}"


def test_a_folder_of_another_program_is_left_alone(tmp_path: Path, capsys: Capsys, source: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    line = refused(folder, capsys, UNUSABLE, "--source", source)
    assert line.startswith(f"{folder}: no {MARKER} in it")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_file_in_place_of_a_warehouse(tmp_path: Path, capsys: Capsys, source: str) -> None:
    (tmp_path / "theirs").write_text("mine")
    assert "is a file" in refused(tmp_path / "theirs", capsys, UNUSABLE, "--source", source)
    assert "Not a directory" in refused_elsewhere(tmp_path / "theirs" / "below", tmp_path, capsys, "--source", source)
    assert (tmp_path / "theirs").read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"contract_version": 3}', "has table format 3, this release reads up to 2: use a newer groupscope"),
        (
            '{"contract_version": 1}',
            ": was written by an older release (table format 1, this release needs 2). "
            "Read __consumer_offsets again into a new folder: groupscope audit --source … --warehouse NEW",
        ),
        ('{"contract_version": "1"}', "has table format 1, this release reads up to 2"),
        ("", "not readable"),
        ("[]", "not readable"),
    ],
)
def test_a_warehouse_of_another_version(warehouse: Path, capsys: Capsys, source: str, content: str, told: str) -> None:
    with unchanged(warehouse):
        (warehouse / MARKER).write_text(content)
        assert told in refused(warehouse, capsys, UNUSABLE, "--source", source)


def test_a_new_warehouse_whose_first_run_was_killed_at_once_is_still_ours(tmp_path: Path, source: str) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / f"{MARKER}.4711.begun").write_text("{")
    ingest(tmp_path / "w", "--source", source)
    check_no_leftovers(tmp_path / "w")


def test_a_table_that_lost_a_file_is_told_by_its_name(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str
) -> None:
    (path,) = (warehouse / "offset_commits").glob("*.parquet")
    path.rename(tmp_path / "kept")
    # It overlaps what the run before read, so the file is looked at.
    assert path.name in refused(warehouse, capsys, UNUSABLE, "--source", source)
    (tmp_path / "kept").rename(path)
    ingest(warehouse, "--source", source)


# Disks


def test_a_read_only_file_system(tmp_path: Path, capsys: Capsys, warehouse: Path, source: str) -> None:
    with mounted(tmp_path / "disk", "32m") as disk:
        shutil.copytree(warehouse, disk / "w")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with unchanged(disk / "w"):
            line = refused_elsewhere(disk / "w", tmp_path, capsys, "--source", source)
            assert line == f"{disk / 'w'}: is read-only; give a folder to write to"
        line = refused_elsewhere(disk / "new", tmp_path, capsys, "--source", source)
        assert line == f"{disk / 'new'}: {os.strerror(errno.EROFS)}"


def refused_elsewhere(warehouse: Path, tmp_path: Path, capsys: Capsys, *arguments: str) -> str:
    """With the result beside the disk, which cannot take it."""
    capsys.readouterr()
    result = tmp_path / "refused.json"
    assert run_ingest(warehouse, "--result-file", result, *arguments) == UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    told = line.removeprefix("groupscope: ")
    assert json.loads(result.read_text())["message"] == told
    return told


def test_a_full_disk_at_any_step_leaves_the_last_run_and_a_later_run_goes_on(
    tmp_path: Path, capsys: Capsys, warehouse: Path, source: str, rng: np.random.Generator
) -> None:
    """More and more room beside the tables, so that it runs out at one step after another: other ones in each run."""
    ingest(tmp_path / "direct", "--source", source)
    before, after = history(warehouse), history(tmp_path / "direct")
    used = sum(path.stat().st_blocks for path in warehouse.rglob("*")) * 512
    told = []
    with mounted(tmp_path / "disk", str(used + (4 << 20))) as disk:
        for spare in range(int(rng.integers(0, 24 << 10)), 1 << 20, 24 << 10):
            shutil.copytree(warehouse, disk / "w")
            fill(disk / "filler", shutil.disk_usage(disk).free - spare)
            capsys.readouterr()
            if (code := run_ingest(disk / "w", "--source", source)) == ExitCode.CLEAN:
                break
            assert code == UNUSABLE
            told += [line.removeprefix("groupscope: ") for line in capsys.readouterr().err.splitlines()]
            assert history(disk / "w") == before
            (disk / "filler").unlink()
            ingest(disk / "w", "--source", source)
            assert history(disk / "w") == after
            check_no_leftovers(disk / "w")
            shutil.rmtree(disk / "w")
    assert all("No space left on device" in line and str(disk / "w") in line for line in told), told
    assert all(line.isprintable() for line in told), told
    # Of the lock, of tables, of Delta's logs.
    assert len(set(told)) > 2, told


# Settings and flags


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ingest]\nmax_rejected = 0.1\n", "[ingest] max_rejected: no such setting, the nearest is max_rejected_share"),
        ("[ingets]\n", "[ingets]: no such setting, the nearest is [ingest]"),
        ("[ingest\n", "; write it as TOML"),
    ],
)
def test_settings_that_are_none(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str, text: str, told: str
) -> None:
    (tmp_path / "own.toml").write_text(text)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", source, "--config", tmp_path / "own.toml")
    assert line.startswith(str(tmp_path / "own.toml"))
    assert told in line


@pytest.mark.parametrize("source", ["segments", "segments:", "logs:/tmp", "/tmp", ":", "", "records:"])
def test_forms_of_a_source_that_are_none(warehouse: Path, capsys: Capsys, source: str) -> None:
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", source)
    assert line == f"--source {source!r}; give segments:DIR, kafka:HOST:PORT or records:PATH"


def test_nothing_to_do(warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        assert refused(warehouse, capsys, USAGE).startswith("nothing to do; give --source")


@pytest.mark.parametrize("time", ["yesterday", "20261121", "-5", "2026-13-01"])
def test_times_that_are_none(tmp_path: Path, warehouse: Path, capsys: Capsys, time: str) -> None:
    (tmp_path / "ends.txt").write_text("t:0:5\n")
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--snapshots", tmp_path / "ends.txt", f"--captured-at={time}")
    assert line.startswith(f"--captured-at {time!r}: give ISO 8601")


SNAPSHOTS = [
    (b'{"captured_at": 1795282587379, "topics": [}\n', "line 1: Expecting value at character 42"),
    (b'{"captured_at": 1795282587379, "topics": [{"topic": "a', "line 1: Unterminated string at character 52"),
    (b'{"captured_at": 1795282587379, "topics": []}\n{"topics": []}\n', "line 2: captured_at: missing"),
    (b'{"captured_at": 1795282587, "topics": []}\n', "line 1: captured_at: 1795282587, milliseconds since 1970"),
    (
        b'{"captured_at": 1795282587379, "topics": [{"topic": "a b", "partitions": []}]}\n',
        'line 1: topics[0].topic: "a b"',
    ),
    (b"t:0\n", 'line 1: "t:0", topic:partition:offset expected'),
    (b"t:0:5\nt:0:6\n", "two snapshots contradict each other"),
    (b"\xff\xfe", "is not UTF-8"),
    (b"\x1f\x8bnothing", "not a whole gzip file"),
    (b"", "empty; give snapshots"),
]


@pytest.mark.parametrize(("content", "told"), SNAPSHOTS)
def test_malformed_snapshots(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str, content: bytes, told: str
) -> None:
    path = tmp_path / "snapshots.jsonl"
    path.write_bytes(content)
    with unchanged(warehouse):
        # Beside a source that is fine, of which nothing may get in either.
        line = refused(warehouse, capsys, UNREADABLE, "--source", source, "--snapshots", path)
    assert str(path) in line
    assert told in line
    ingest(warehouse, "--source", source)
    check_no_leftovers(warehouse)


def test_snapshots_that_are_not_there(tmp_path: Path, warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        assert "no such file" in refused(warehouse, capsys, UNREADABLE, "--snapshots", tmp_path / "none.jsonl")


def test_snapshots_on_a_storage_that_is_not_known(warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.USAGE, "--snapshots", "nowhere://bucket/none.jsonl")
    assert "unknown kind of storage nowhere:" in line


# What is told


def test_debug_shows_where_a_failure_comes_from(tmp_path: Path, capsys: Capsys) -> None:
    assert run_ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'none'}", "--debug") == UNREADABLE
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith(f"groupscope: segments:{tmp_path / 'none'}: no such folder")


def test_a_process_ends_with_the_code_of_its_failure(tmp_path: Path) -> None:
    ended = spawned(tmp_path / "w", "--source", f"segments:{tmp_path / 'none'}")
    assert ended.returncode == UNREADABLE
    assert (ended.stdout, len(beside_progress(ended.stderr))) == ("", 1)


def test_a_killed_run_leaves_no_result_of_an_earlier_one(tmp_path: Path, source: str) -> None:
    result = tmp_path / "result.json"
    result.write_text('{"verdict": "clean", "exit_code": 0}')
    arguments = ("--source", source, "--result-file", result)
    spawned(tmp_path / "w", *arguments, environment={VARIABLE: "files_written"})
    assert not result.exists()


def test_a_result_file_that_cannot_be_written_is_told(tmp_path: Path, capsys: Capsys) -> None:
    (tmp_path / "file").write_text("")
    code = run_ingest(tmp_path / "w", "--source", f"segments:{tmp_path}", "--result-file", tmp_path / "file" / "r.json")
    assert code == USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"groupscope: --result-file {tmp_path / 'file'}: File exists; give a file that can be")


def test_a_defect_of_ours_is_a_failure_to_programs_too(
    tmp_path: Path, warehouse: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(jobs.ingestion.task.task, "decode", None)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.FAILED, "--source", source)
    assert line.startswith("internal error, please report it: TypeError")
