"""Input and flags that an ingest cannot use: one clear line, the contract's exit code, and nothing changed."""

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jobs.ingestion.driver.writer
import jobs.ingestion.run
import jobs.ingestion.task.task
import jobs.sources.segment_files
from jobs.storage.failpoints import VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import WrittenBatch, random_log, write_copy
from tests.builders.warehouses.one_run import log, named, source, warehouse
from tests.runs.ingested import ingest, run_ingest, spawned
from tests.runs.progress_lines import beside_progress
from tests.runs.refused import check_no_leftovers, num_runs, refused, unchanged

__all__ = ["log", "source", "warehouse"]


FINDINGS, UNREADABLE = ExitCode.FINDINGS, ExitCode.UNREADABLE_INPUT
USAGE, UNUSABLE = ExitCode.USAGE, ExitCode.UNUSABLE_WAREHOUSE
Capsys = pytest.CaptureFixture[str]


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


@pytest.mark.parametrize(("make", "message"), PLACES)
def test_a_place_without_readable_segments(
    tmp_path: Path, warehouse: Path, capsys: Capsys, make: Callable[[Path], str], message: str
) -> None:
    (tmp_path / "bad").mkdir()
    with unchanged(warehouse):
        line = refused(warehouse, capsys, UNREADABLE, "--source", make(tmp_path / "bad"))
    assert str(tmp_path) in line
    assert message in line
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
    run = ingest(warehouse, "--source", f"segments:{path}", "--offsets-partition", "5")
    assert run["read"] == run["decoded"] + run["rejected"] == sum(len(batch.records) for batch in log)


def test_a_folder_names_a_partition_of_32_bits(tmp_path: Path, capsys: Capsys) -> None:
    folder = tmp_path / "copy" / "__consumer_offsets-99999999999"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").touch()
    line = refused(tmp_path / "w", capsys, ExitCode.USAGE, "--source", f"segments:{folder.parent}")
    assert line.endswith(f"{folder.name} names no partition: a number from 0 to 2147483647 was expected")


# Clusters


def test_two_clusters_of_one_warehouse_are_distinguished_by_name(
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


# Settings and flags


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ingest]\nmax_rejected = 0.1\n", "[ingest] max_rejected: no such setting, the nearest is max_rejected_share"),
        ("[ingets]\n", "[ingets]: no such setting, the nearest is [ingest]"),
        ("[ingest\n", "; write it as TOML"),
    ],
)
def test_settings_that_are_none(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str, text: str, message: str
) -> None:
    (tmp_path / "own.toml").write_text(text)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", source, "--config", tmp_path / "own.toml")
    assert line.startswith(str(tmp_path / "own.toml"))
    assert message in line


@pytest.mark.parametrize("source", ["segments", "segments:", "logs:/tmp", "/tmp", ":", "", "records:"])
def test_forms_of_a_source_that_are_none(warehouse: Path, capsys: Capsys, source: str) -> None:
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", source)
    assert line == f"--source {source!r}; give segments:DIR, kafka:HOST:PORT or records:PATH"


def test_nothing_to_do(warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        assert refused(warehouse, capsys, USAGE).startswith("nothing to do; give --source")


@pytest.mark.parametrize("time", ["tomorrow", "20261121", "-5", "2026-13-01"])
def test_times_that_are_none(tmp_path: Path, warehouse: Path, capsys: Capsys, time: str) -> None:
    (tmp_path / "ends.txt").write_text("t:0:5\n")
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--snapshots", tmp_path / "ends.txt", f"--captured-at={time}")
    assert line.startswith(f"--captured-at {time!r}: give ISO 8601")


def test_a_time_for_no_snapshots(tmp_path: Path, warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        line = refused(warehouse, capsys, USAGE, "--source", f"segments:{tmp_path}", "--captured-at", "now")
    assert line == "--captured-at now: only --snapshots FILE uses it; add that file or leave the flag out"


def tar_of(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        member = tarfile.TarInfo("ends.txt")
        member.size = len(content)
        file.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("ends.txt", content)
    return buffer.getvalue()


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
    (b"\xff\xfe", "byte 0xff at position 0 is not UTF-8; give the file in UTF-8"),
    ('{"captured_at": 1}'.encode("utf-16-le"), "byte 0x00 at position 1, as UTF-16 has it; give the file in UTF-8"),
    (tar_of(b"t:0:5\n"), "is packed; unpack it first"),
    (gzip.compress(tar_of(b"t:0:5\n")), "is packed; unpack it first"),
    (zip_of(b"t:0:5\n"), "is packed; unpack it first"),
    (b"\x1f\x8bnothing", "not a whole gzip file"),
    (b"", "empty; give snapshots"),
]


@pytest.mark.parametrize(("content", "message"), SNAPSHOTS)
def test_malformed_snapshots(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str, content: bytes, message: str
) -> None:
    path = tmp_path / "snapshots.jsonl"
    path.write_bytes(content)
    with unchanged(warehouse):
        # Beside a source that is fine, of which nothing may get in either.
        line = refused(warehouse, capsys, UNREADABLE, "--source", source, "--snapshots", path)
    assert str(path) in line
    assert message in line
    ingest(warehouse, "--source", source)
    check_no_leftovers(warehouse)


def test_snapshots_that_are_not_there(tmp_path: Path, warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        assert "no such file" in refused(warehouse, capsys, UNREADABLE, "--snapshots", tmp_path / "none.jsonl")


def test_a_pipe_of_snapshots_that_nobody_writes_to(tmp_path: Path, warehouse: Path, capsys: Capsys) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "own.toml").write_text("[storage]\nanswer_seconds = 1\n")
    words = ("--snapshots", tmp_path / "pipe", "--config", tmp_path / "own.toml")
    with unchanged(warehouse):
        line = refused(warehouse, capsys, UNREADABLE, *words)
    assert line == f"{tmp_path / 'pipe'}: no answer for 1 s; give a readable file of snapshots"
    # So that nothing waits for it any more.
    os.close(os.open(tmp_path / "pipe", os.O_WRONLY))


def test_snapshots_on_a_storage_that_is_not_known(warehouse: Path, capsys: Capsys) -> None:
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.USAGE, "--snapshots", "nowhere://bucket/none.jsonl")
    assert "unknown kind of storage nowhere:" in line


# Messages and exit codes


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


def test_a_result_file_that_cannot_be_written_fails_a_run_that_is_done(
    tmp_path: Path, capfd: Capsys, source: str
) -> None:
    assert run_ingest(tmp_path / "w", "--source", source, "--result-file", "/dev/full") == FINDINGS
    captured = capfd.readouterr()
    line = "groupscope: --result-file /dev/full: No space left on device; give a file that can be written\n"
    assert captured.err.endswith(line) and "\nrun 00000001-" in f"\n{captured.out}"
    assert num_runs(tmp_path / "w") == 1


def test_no_folder_is_made_for_a_result_file(tmp_path: Path, capsys: Capsys, source: str) -> None:
    file = tmp_path / "no" / "r.json"
    assert run_ingest(tmp_path / "w", "--source", source, "--result-file", file) == USAGE
    line = f"groupscope: --result-file {file}: there is no folder {tmp_path}/no; make it, or give another file\n"
    assert capsys.readouterr().err == line
    assert not file.parent.exists() and not (tmp_path / "w").exists()


def test_a_folder_as_result_file_is_reported_before_any_work(tmp_path: Path, capsys: Capsys, source: str) -> None:
    assert run_ingest(tmp_path / "w", "--source", source, "--result-file", tmp_path) == USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"groupscope: --result-file {tmp_path}: is a folder; give a file that can be written"
    assert not (tmp_path / "w").exists()


def test_a_defect_of_ours_is_a_failure_to_programs_too(
    tmp_path: Path, warehouse: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(jobs.ingestion.task.task, "decode", None)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.FAILED, "--source", source)
    assert line.startswith("internal error, please report it: TypeError")
