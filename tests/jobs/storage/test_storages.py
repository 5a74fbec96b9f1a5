"""Every storage does the same: what is written is read, whole, once, by whoever asks, also in another process."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from jobs.output.failure import Failure
from jobs.storage import object_storage
from jobs.storage.arrow_files import arrow_sink
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import created, read_whole, write_once
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import place_of, storage
from tests.builders.storages.s3_server import options_for

__all__ = ["storage"]

# Names that a URI would escape, and those of folders that begin alike.
NAMES = ["a b/one%20=1.log", "a/ü.txt", "top"]


def test_what_is_written_is_listed_and_read(storage):
    assert list(storage.list()) == []
    for name in NAMES:
        write_once(storage, name, name.encode() * 100)
    listed = {file.name: file for file in storage.list()}
    assert {name: file.size for name, file in listed.items()} == {name: 100 * len(name.encode()) for name in NAMES}
    assert [file.name for file in storage.list("a")] == ["a/ü.txt"]
    for name in NAMES:
        assert read_whole(storage, name) == name.encode() * 100
        assert storage.find(name) == listed[name]
    storage.replace("top", b"other")
    assert read_whole(storage, "top") == b"other"
    storage.delete("top")
    storage.delete("top")
    assert storage.find("top") is None
    assert storage.find("a") is None
    with pytest.raises(FileNotFoundError) as refused:
        read_whole(storage, "top")
    assert refused.value.filename == f"{storage.place}/top"


def test_a_file_does_not_appear_before_what_it_waits_for(storage):
    result = []
    storage.replace("late", b"now", lambda: result.append(storage.find("late")))
    assert result == [None]
    assert read_whole(storage, "late") == b"now"

    def fail():
        raise OSError(28, "no space", "elsewhere")

    with pytest.raises(OSError, match="no space"):
        storage.replace("never", b"now", fail)
    assert [file.name for file in storage.list()] == ["late"]


def test_a_file_is_read_anywhere_in_it(storage, rng):
    data = rng.bytes(3 << 20)
    write_once(storage, "f", data)
    with storage.open("f") as file:
        for start in [*rng.integers(0, len(data), 20).tolist(), len(data) - 3, len(data), len(data) + 5]:
            length = int(rng.integers(1, 2 << 20))
            file.seek(start)
            assert file.read(length) == data[start : start + length]


def test_a_file_is_written_once_by_one_of_many(storage):
    def written(number):
        try:
            write_once(storage, "once", b"%d" % number)
        except FileExistsError as refused:
            assert refused.filename == f"{storage.place}/once"
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(written, range(8)))
    assert done.count(True) == 1
    assert read_whole(storage, "once") == b"%d" % done.index(True)
    assert [file.name for file in storage.list()] == ["once"]


@pytest.mark.parametrize("size", [1000, 20_000])
def test_a_file_that_is_not_finished_never_appears(storage, size, monkeypatch, rng):
    """Also those that are so large that they are uploaded in parts."""
    monkeypatch.setattr(object_storage, "MOST_AT_ONCE", 10_000)
    data = rng.bytes(size)
    with pytest.raises(ZeroDivisionError), created(storage, "f") as file:
        file.write(data)
        assert storage.find("f") is None
        raise ZeroDivisionError
    assert list(storage.list()) == []
    for _ in range(2):
        try:
            with created(storage, "f") as file:
                assert file.write(data[:700]) == 700
                file.write(data[700:])
        except FileExistsError:
            pass
    assert read_whole(storage, "f") == data
    with pytest.raises(FileExistsError), created(storage, "f") as file:
        file.write(bytes(size))
    assert read_whole(storage, "f") == data


def parquet(storage, name, rows):
    with created(storage, name) as file, pq.ParquetWriter(arrow_sink(file), rows.schema) as writer:
        writer.write_table(rows)
    result = storage.find(name)
    assert result is not None
    return result.size


def test_parquet_files_and_datasets_of_them(storage):
    rows = pa.table({"n": range(1000), "text": ["x" * (n % 7) for n in range(1000)]})
    for part in range(2):
        parquet(storage, f"t/part-{part}.parquet", rows.slice(part * 500, 500))
    table = place_of(storage, "t")
    folder, files = table.arrow_name, table.arrow_files()
    assert pq.read_table(f"{folder}/part-1.parquet", filesystem=files, use_threads=False).equals(rows.slice(500))
    result = ds.dataset(folder, format="parquet", filesystem=files).to_table(
        filter=ds.field("n") >= 400, use_threads=False
    )
    assert result.sort_by("n").equals(rows.slice(400))


def test_two_writers_of_one_version_lose_nothing(storage):
    rows = pa.table({"n": pa.array(range(100), pa.int64())})
    schema, table = Schema.from_arrow(rows.schema), place_of(storage, "t")

    def add(name):
        size = parquet(storage, f"t/{name}", rows)
        return [AddAction(name, size, {}, 0, True, json.dumps({"numRecords": 100}))]

    def opened():
        return table.by_delta(lambda uri, options: DeltaTable(uri, storage_options=options))

    first = add("0.parquet")
    table.by_delta(lambda uri, options: create_table_with_add_actions(str(uri), schema, first, storage_options=options))
    writers = [opened() for _ in range(3)]
    together = threading.Barrier(3)

    def commit(number):
        actions = add(f"{number}.parquet")
        together.wait()
        writers[number - 1].create_write_transaction(actions, "append", schema, [])

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(commit, (1, 2, 3)))
    result = opened()
    assert result.version() == 3
    assert sorted(os.path.basename(file) for file in result.file_uris()) == [f"{n}.parquet" for n in range(4)]
    logs = [file.name for file in storage.list("t/_delta_log") if file.name.endswith(".json")]
    assert sorted(logs) == [f"t/_delta_log/{version:020}.json" for version in range(4)]


def read_f(storage):
    return read_whole(storage, "f")


def test_workers_read_by_what_is_pickled_for_them(storage):
    write_once(storage, "f", b"for all")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(read_f, (storage,)) == b"for all"


# Reaches the storage, forks, and reaches it again.
FORK = """
import os, pickle, sys
storage = pickle.loads(bytes.fromhex(sys.stdin.read()))
list(storage.list())
if not (child := os.fork()):
    try:
        list(storage.list())
    except RuntimeError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_fork_after_the_storage_was_reached_is_reported_and_does_not_hang(s3):
    pickled = pickle.dumps(storage_at("s3://bucket/fork", options_for(s3))).hex()
    command = [sys.executable, "-c", FORK]
    process = subprocess.run(command, input=pickled, capture_output=True, text=True, timeout=60, check=True)
    assert "start workers by spawn or forkserver" in process.stdout


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            "ftp://host/a",
            "ftp://host/a: unknown kind of storage ftp:; give a path, file:, s3://, s3a://, gs://, abfss://",
        ),
        ("s3:/bucket/a", "s3:/bucket/a: names no bucket; give s3://BUCKET/PATH"),
        ("abfss://c@a.dfs.core.windows.net/w?sig=KEY", "abfss://c@a.dfs.core.windows.net/w: ends in a query"),
    ],
)
def test_another_place_is_refused_in_one_line(place, message):
    with pytest.raises(Failure) as refused:
        storage_at(place, StorageOptions())
    assert refused.value.code == ExitCode.USAGE
    assert str(refused.value).startswith(message)
    assert "KEY" not in str(refused.value)


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("a/b", str(Path("a/b").absolute())),
        ("file:///a%20b", "/a b"),
        ("s3a://bucket/a%20b/", "s3a://bucket/a%20b"),
        ("S3://bucket/", "s3://bucket"),
        ("gs://bucket/w", "gs://bucket/w"),
        ("abfss://container@account.dfs.core.windows.net/w", "abfss://container@account.dfs.core.windows.net/w"),
        ("hdfs:///w", "hdfs:///w"),
        ("viewfs://cluster/w", "viewfs://cluster/w"),
    ],
)
def test_places(place, kept):
    result = storage_at(place, StorageOptions())
    assert result.place == kept
