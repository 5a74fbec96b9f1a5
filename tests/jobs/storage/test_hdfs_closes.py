"""Files of HDFS whose writer was killed before the name node took them for closed: they are whole for every reader,
and in nobody's way."""

import signal
import subprocess
import sys
import uuid

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hdfs_native import Client

from jobs.spark.jars import jars
from jobs.spark.java import java_executable
from jobs.storage.closes import wait_for_closes
from jobs.storage.hdfs_storage import HdfsFile
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import read_whole, write_once
from jobs.warehouses.delta_commits import commit
from jobs.warehouses.delta_tables import Change, open_table, rows_of
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES
from tests.builders.storages.mini_hdfs import HADOOP, SPARK_JARS
from tests.runs.ingested import ROOT

pytestmark = pytest.mark.spark

TABLE = TABLES["replayed_groups"]
FILES = {"small": b"1", "large": bytes(range(256)) * 20_000, "a/b": b"2" * 1000, "deleted": b"3"}
FILES |= {f"more/{number}": b"4" for number in range(20)}
KEPT = FILES | {"replaced": b"new"}
# Dies before all of it is closed. Now and then a name node knows the last block at once, and closes the file; on a busy
# machine half a second is over before the next file is written.
DIES = """
import os, signal, sys
from jobs.storage import closes
from jobs.storage.stored_files import write_once
from tests.jobs.storage.test_hdfs_closes import FILES, add_row, stored

storage = stored(sys.argv[1])
file = storage.create("unfinished")
file.write(b"1" * (2 << 20))
for sequence in (1, 2):
    add_row(storage, sequence)
for name, data in FILES.items():
    write_once(storage, name, data)
storage.replace("replaced", b"old")
storage.replace("replaced", b"new")
while all(each.ended.is_set() for each in closes.begun):
    storage.replace("replaced", b"new")
os.kill(os.getpid(), signal.SIGKILL)
"""


def stored(place):
    return storage_at(place, StorageOptions())


def add_row(storage, sequence):
    folder = RemotePlace(storage, "t")
    file = TableFile(folder, TABLE, "run")
    file.write(
        pa.table([["c"], pa.array([sequence], pa.int32()), ["g"], ["{}"]], [each.name for each in TABLE.columns])
    )
    done = file.close()
    assert done is not None
    commit(folder, TABLE, Change((done,)), sequence, sequence, open_table(folder))


def rows(storage):
    folder = RemotePlace(storage, "t")
    table = open_table(folder)
    assert table is not None
    result = sorted(rows_of(table, folder, TABLE).column("offsets_partition").to_pylist())
    return result


@pytest.fixture
def left(hdfs):
    """What a writer left that was killed."""
    place = f"{hdfs}/{uuid.uuid4().hex}"
    command = [sys.executable, "-c", DIES, place]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return stored(place)


def java(storage, folder, tool, *words):
    """What a program of Hadoop's own writes."""
    (folder / "core-site.xml").write_text("<configuration/>")
    path = ":".join([str(folder), *map(str, jars(HADOOP)), f"{SPARK_JARS}/*"])
    command = [str(java_executable()), "-cp", path, f"org.apache.hadoop.{tool}", "-fs", root_of(storage), *words]
    return subprocess.run(command, capture_output=True, timeout=120, check=True, text=True).stdout


def root_of(storage):
    return storage.place.rpartition("/")[0]


def open_files(storage, folder):
    """Of the place, as the name node says."""
    above = storage.place.removeprefix(root_of(storage)) + "/"
    words = java(storage, folder, "hdfs.tools.DFSAdmin", "-listOpenFiles").split()
    return {word.removeprefix(above) for word in words if word.startswith(above)}


def test_every_reader_finds_all_of_them(left, tmp_path):
    is_open = open_files(left, tmp_path)
    assert is_open & {*KEPT}
    assert {name: read_whole(left, name) for name in KEPT} == KEPT
    listed = {file.name: file.size for file in left.list() if file.name in KEPT}
    assert listed == {name: len(data) for name, data in KEPT.items()}
    assert rows(left) == [1, 2]
    assert DeltaTable(left.delta_uri("t"), storage_options=left.delta_options).version() == 1
    names = ["small", "deleted", "replaced", "t/_delta_log/00000000000000000001.json"]
    read = java(left, tmp_path, "fs.FsShell", "-cat", *(f"{left.place}/{name}" for name in names))
    assert read == "".join(read_whole(left, name).decode() for name in names)
    # They are open as long as nobody asks for more.
    assert open_files(left, tmp_path) == is_open


def test_later_writers_go_on(left, tmp_path):
    add_row(left, 3)
    assert rows(left) == [1, 2, 3]
    left.replace("replaced", b"newer")
    with pytest.raises(FileExistsError):
        write_once(left, "small", b"2")
    for file in list(left.list()):
        if file.name == "deleted" or file.name.endswith(".begun"):
            left.delete(file.name)
    write_once(left, "deleted", b"again")
    changed = KEPT | {"replaced": b"newer", "deleted": b"again"}
    assert {name: read_whole(left, name) for name in KEPT} == changed
    wait_for_closes()
    assert not open_files(left, tmp_path) & {"replaced", "deleted"}
    assert {file.name for file in left.list() if not file.name.startswith("t/")} == set(KEPT)


def test_a_file_that_is_gone_or_replaced_while_it_is_closed_needs_none(hdfs):
    storage = stored(f"{hdfs}/{uuid.uuid4().hex}")
    for data in (b"1", b"22", b"333"):
        storage.replace("f", data)
    write_once(storage, "gone", b"1")
    storage.delete("gone")
    wait_for_closes()
    assert {file.name: file.size for file in storage.list()} == {"f": 3}


def test_a_file_is_there_before_the_name_node_takes_it_for_closed(hdfs):
    """What all of this is for: else nothing above would be tried."""
    storage = stored(f"{hdfs}/{uuid.uuid4().hex}")
    for number in range(100):
        file = HdfsFile(storage, str(number))
        file.write(b"1" * 1000)
        file.finish()
        assert file.closing is not None
        is_open = not file.closing.ended.is_set()
        assert len(Client(root_of(storage)).read(f"{storage.place.removeprefix(root_of(storage))}/{number}")) == 1000
        if is_open:
            break
    assert is_open
    wait_for_closes()
