"""Segments on other storages are found and read as those of local disks are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.output.failure import Failure
from jobs.runs import run
from jobs.sources.segment_files import framed_pieces, open_segment
from jobs.sources.segment_source import SegmentFile, segment_files
from jobs.storage.closes import wait_for_closes
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import Storage
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import compacted, keys_of, random_log, write_copy
from tests.builders.storages.kinds import copied, storage
from tests.builders.storages.s3_server import free_port, options_for, proxy
from tests.runs.ingested import history, ingest, keys, rows, run_ingest

__all__ = ["storage"]

ELSEWHERE = ["s3", pytest.param("hdfs", marks=pytest.mark.spark)]
elsewhere = pytest.mark.parametrize("storage", ELSEWHERE, indirect=True)


@pytest.fixture
def by_storage(storage: Any, monkeypatch: pytest.MonkeyPatch) -> Storage:
    reach(monkeypatch, storage.options)
    result: Storage = storage
    return result


def reach(monkeypatch: pytest.MonkeyPatch, options: StorageOptions) -> None:
    monkeypatch.setattr(run, "options_of", lambda settings, hadoop: options)


@elsewhere
def test_they_give_the_tables_of_local_ones(tmp_path: Path, by_storage: Storage, rng: np.random.Generator) -> None:
    for partition in (3, 11):
        log = random_log(rng, 30)
        for number in range(2):
            write_copy(tmp_path / "copies" / str(number), partition, compacted(log, rng, 0.4), rng)
    place = copied(tmp_path / "copies", by_storage, "copies")
    local = ingest(tmp_path / "local", "--source", f"segments:{tmp_path / 'copies'}")
    result = ingest(tmp_path / "w", "--source", f"segments:{place}")
    assert history(tmp_path / "w") == history(tmp_path / "local")
    for name in ("read", "decoded", "rejected", "already_known", "num_files_read"):
        assert result[name] == local[name]
    facts = [
        sorted((row["offsets_partition"], row["size_bytes"], row["num_records"], row["last_batch_crc"]) for row in each)
        for each in (rows(tmp_path / "w", "source_files"), rows(tmp_path / "local", "source_files"))
    ]
    assert facts[0] == facts[1]
    assert all(row["source_file"].startswith(place) for row in rows(tmp_path / "w", "source_files"))
    assert ingest(tmp_path / "w", "--source", f"segments:{place}")["num_files_read"] == 0


@elsewhere
def test_a_file_that_has_grown_is_read_on_from_its_former_end(
    tmp_path: Path, by_storage: Storage, rng: np.random.Generator
) -> None:
    log = random_log(rng, 12)
    name = f"a/__consumer_offsets-3/{0:020}.log"
    by_storage.replace(name, b"".join(batch.bytes for batch in log[:5]))
    wait_for_closes()
    source = f"segments:{by_storage.place}/*/__consumer_offsets-3"
    ingest(tmp_path / "w", "--source", source)
    by_storage.replace(name, b"".join(batch.bytes for batch in log))
    wait_for_closes()
    result = ingest(tmp_path / "w", "--source", source)
    assert (result["read"], result["already_known"]) == (len(keys_of(log[5:])), 0)
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(log))


# Below a folder with two copies and other things.
TREE = [
    "one/__consumer_offsets-3/00000000000000000000.log",
    "one/__consumer_offsets-3/00000000000000000000.index",
    "one/__consumer_offsets-3/deeper/00000000000000000000.log",
    "one/__consumer_offsets-4/00000000000000000007.log",
    "one/other-0/00000000000000000000.log",
    "two/far/below/__consumer_offsets-3/00000000000000000000.log",
    "__consumer_offsets-3/00000000000000000000.log",
    "loose.log",
]
PLACES = ["", "one", "two", "one/__consumer_offsets-3", "*", "one/*", "o*/__consumer*", "*/*/below", "loose.log", "t?o"]


@pytest.mark.drawn(8)
@pytest.mark.parametrize("place", PLACES)
@elsewhere
def test_they_are_listed_where_local_ones_are(tmp_path: Path, storage: Any, place: str) -> None:
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12")
        storage.replace(name, b"12")

    def of(root: str, options: StorageOptions) -> list[tuple[str, int, int, int]]:
        files = segment_files(f"{root}/{place}".rstrip("/"), 9, options)
        return [(str(file.path).removeprefix(root), file.partition, file.size, file.base_offset) for file in files]

    assert of(storage.place, storage.options) == of(str(tmp_path), StorageOptions())


def only(storage: Any) -> SegmentFile:
    (file,) = segment_files(f"{storage.place}/a", None, storage.options)
    return file


@elsewhere
def test_another_file_of_its_name_is_noticed(storage: Any, rng: np.random.Generator) -> None:
    name = f"a/__consumer_offsets-3/{0:020}.log"
    storage.replace(name, b"first")
    wait_for_closes()
    file = only(storage)
    with open_segment(file.path, file.identity) as reader:  # type: ignore[arg-type]
        assert reader.read() == b"first"
    with pytest.raises(Failure, match="another file replaced it while it was read"):
        open_segment(file.path, file.identity - 1000)  # type: ignore[arg-type, operator]
    storage.delete(name)
    with pytest.raises(Failure, match=f"{storage.place}/{name}: no such file; give a readable segment file"):
        open_segment(file.path, file.identity)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("s3://nosuchbucket/a", "no such bucket or container; give one that is there"),
        ("s3://bucket/nothing-here", "no segment files (….log) there"),
    ],
)
def test_a_place_without_segments_is_reported_in_one_line(
    tmp_path: Path,
    s3: str,
    place: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reach(monkeypatch, options_for(s3))
    check_refused(tmp_path, place, message, capsys)


def test_a_server_that_is_down_or_unwilling_is_reported_in_one_line(
    tmp_path: Path, s3: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(monkeypatch, options_for(f"http://127.0.0.1:{free_port()}", retry_seconds=1))
    check_refused(tmp_path, "s3://bucket/a", "no answer from the server, tried for 1 s: check the endpoint", capsys)
    with proxy(s3) as (url, behaviour):
        behaviour.always = "403"
        reach(monkeypatch, options_for(url))
        message = "permission denied (403 Forbidden, SignatureDoesNotMatch): check the access key"
        check_refused(tmp_path, "s3://bucket/a", message, capsys)


def check_refused(folder: Path, place: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_ingest(folder / "w", "--source", f"segments:{place}") == ExitCode.UNREADABLE_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"groupscope: segments:{place}: {message}")


@pytest.fixture
def ill(s3: str, rng: np.random.Generator, tmp_path: Path) -> Iterator[Any]:
    """A log behind a proxy."""
    with proxy(s3) as (url, behaviour):
        there = storage_at("s3://bucket/ill", options_for(url))
        write_copy(tmp_path / "copy", 3, random_log(rng, 20), rng)
        yield copied(tmp_path / "copy", there, "copy"), url, behaviour


def test_a_server_that_fails_while_it_is_read_ends_the_run_and_the_next_goes_on(
    tmp_path: Path, ill: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, url, behaviour = ill
    reach(monkeypatch, options_for(url, retry_seconds=1))
    # The list is given, that no file has the ids of the log, and the first of what is asked of a segment.
    behaviour.requests, behaviour.next, behaviour.always = [], ["pass"] * 4, "500"
    assert run_ingest(tmp_path / "w", "--source", f"segments:{place}") == ExitCode.UNREADABLE_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"groupscope: {place}/__consumer_offsets-3/")
    assert "the server refuses (500 Internal Server Error" in line
    behaviour.always = "pass"
    ingest(tmp_path / "w", "--source", f"segments:{place}")
    ingest(tmp_path / "local", "--source", f"segments:{tmp_path / 'copy'}")
    assert history(tmp_path / "w") == history(tmp_path / "local")


def test_partition_folders_that_are_links_are_read_once(tmp_path: Path) -> None:
    def segment(name: str) -> None:
        path = tmp_path / name / f"{0:020}.log"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"1")

    segment("disk/__consumer_offsets-3")
    segment("disk/elsewhere")
    segment("logs/__consumer_offsets-5")
    (tmp_path / "logs" / "__consumer_offsets-3").symlink_to(tmp_path / "disk/__consumer_offsets-3")
    (tmp_path / "logs" / "__consumer_offsets-4").symlink_to("../disk/elsewhere")
    (tmp_path / "logs" / "loop").symlink_to(tmp_path)

    def folders_of(place: str) -> list[str]:
        files = segment_files(str(tmp_path / place), None)
        return [str(file.path.parent).removeprefix(f"{tmp_path}/") for file in files]

    assert folders_of("logs") == [f"logs/__consumer_offsets-{number}" for number in (3, 4, 5)]
    assert folders_of("logs/__consumer_offsets-3") == ["logs/__consumer_offsets-3"]
    # From above, both the link and what it leads to are seen.
    assert folders_of("") == ["disk/__consumer_offsets-3", "logs/__consumer_offsets-4", "logs/__consumer_offsets-5"]


def test_a_file_of_a_storage_is_read_a_piece_at_a_time(s3: str, rng: np.random.Generator, tmp_path: Path) -> None:
    from jobs.sources.segment_files import Span

    log = random_log(rng, 40)
    there: Any = storage_at("s3://bucket/pieces", options_for(s3))
    there.replace(f"a/__consumer_offsets-3/{0:020}.log", b"".join(batch.bytes for batch in log))
    file = only(there)
    span = Span(file.path, 0, file.size, file.identity, file.size)
    offsets = [int(offset) for piece in framed_pieces(span, 500) for offset in piece.records.offset]
    assert offsets == [offset for offset, _ in sorted(keys_of(log))]
