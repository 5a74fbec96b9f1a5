"""Servers that are slow, ill, gone or unwilling: what can be mended is, and the rest is one line without a secret."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions

from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.refusals import reword_delta_failures
from jobs.storage.stored_files import Storage, read_whole, write_once
from tests.builders.storages.s3_server import SECRET, Misbehaviour, free_port, options_for, proxy

Behind = tuple[Storage, Misbehaviour]


@pytest.fixture
def behind(s3):
    """A storage behind a proxy, given up soon."""
    with proxy(s3) as (url, behaviour):
        yield storage_at("s3://bucket/faults", options_for(url, retry_seconds=2)), behaviour


@pytest.fixture
def patient(s3):
    """One that has time enough on a busy machine too."""
    with proxy(s3) as (url, behaviour):
        yield storage_at("s3://bucket/faults", options_for(url, retry_seconds=60)), behaviour


@pytest.mark.parametrize("fault", ["wait 1", "500", "503", "hang up"])
def test_what_another_try_mends_is_mended(patient, fault):
    storage, behaviour = patient
    name = fault.replace(" ", "-")
    write_once(storage, name, b"there")
    behaviour.next = [fault, fault]
    assert read_whole(storage, name) == b"there"
    behaviour.next = [fault]
    assert [file.name for file in storage.list() if file.name == name] == [name]
    behaviour.next = [fault]
    storage.replace(name, b"other")
    assert read_whole(storage, name) == b"other"


ENDLESS = {
    "500": "the server refuses (500 Internal Server Error, InternalError), tried for 2 s: try again later",
    "503": "the server refuses (503 Service Unavailable, SlowDown), tried for 2 s: try again later",
    "403": "permission denied (403 Forbidden",
    "hang up": "no answer from the server, tried for 2 s: check the endpoint, and that the server runs",
    "wait 3": "no answer from the server, tried for 2 s: check the endpoint, and that the server runs",
}
CALLS: list[Callable[[Storage], object]] = [
    lambda storage: list(storage.list()),
    lambda storage: read_whole(storage, "f"),
    lambda storage: write_once(storage, "new", b"1"),
]


@pytest.mark.parametrize(("fault", "message"), ENDLESS.items())
def test_what_no_try_mends_is_one_line_with_the_place_and_the_remedy(behind, fault, message):
    storage, behaviour = behind
    write_once(storage, "f" + fault.replace(" ", ""), b"1")
    behaviour.always = fault
    # Each kind of call has its own way through the library; the slow faults are tried by one alone.
    for call in CALLS if fault == "403" else CALLS[:1]:
        with pytest.raises(OSError) as refused:
            call(storage)
        check_line(refused.value, message)


def check_line(error, message):
    assert str(error.filename).startswith("s3://bucket/faults")
    assert error.strerror.startswith(message) if error.strerror else False
    for secret in (SECRET, "key-of-the-test"):
        assert secret not in f"{error!s}{error!r}{error.__cause__!r}"
    assert "\n" not in str(error)
    assert error.__suppress_context__


def test_a_put_whose_answer_is_lost_is_done_once(patient):
    """Nobody knows who wrote it then: it is refused, and nothing in it is wrong."""
    storage, behaviour = patient
    behaviour.next = ["lose"]
    try:
        write_once(storage, "lost", b"mine")
    except FileExistsError as refused:
        assert refused.filename == f"{storage.place}/lost"
    assert read_whole(storage, "lost") == b"mine"


def test_no_bucket(s3):
    storage = storage_at("s3://nosuchbucket/w", options_for(s3))
    for call in (lambda: list(storage.list()), lambda: write_once(storage, "f", b"1")):
        with pytest.raises(OSError, match="no such bucket or container; give one that is there"):
            call()


def test_no_server():
    storage = storage_at("s3://bucket/faults", options_for(f"http://127.0.0.1:{free_port()}", retry_seconds=1))
    with pytest.raises(OSError, match="no answer from the server, tried for 1 s") as refused:
        list(storage.list())
    check_line(refused.value, "no answer from the server, tried for 1 s: check the endpoint")


def test_no_name_node():
    storage = storage_at(f"hdfs://127.0.0.1:{free_port()}/w", options_for("http://unused"))
    with pytest.raises(OSError, match="no answer from the server"):
        list(storage.list())


def committed(storage):
    schema = Schema.from_arrow(pa.schema([("n", pa.int64())]))
    action = AddAction("0.parquet", 1, {}, 0, True, json.dumps({"numRecords": 1}))
    uri = storage.delta_uri("t")
    create_table_with_add_actions(uri, schema, [action], storage_options=storage.delta_options)


@pytest.mark.parametrize("fault", ["403", "500", "hang up", "wait 3"])
def test_delta_says_as_little(behind, fault):
    storage, behaviour = behind
    behaviour.always = fault
    with pytest.raises(OSError) as refused, reword_delta_failures(f"{storage.place}/t", 2):
        committed(storage)
    check_line(refused.value, ENDLESS[fault].split(" (")[0])


@pytest.mark.parametrize("content", [b'{"add":{"pa', b"no JSON\n", b'{"commitInfo":{}}\n'])
def test_a_damaged_log_is_no_refusal(s3, content):
    storage = storage_at(f"s3://bucket/damaged-{len(content)}", options_for(s3))
    committed(storage)
    (log,) = [file.name for file in storage.list("t/_delta_log") if file.name.endswith(".json")]
    storage.replace(f"t/_delta_log/{Path(log).name}", content)
    with pytest.raises(DeltaError, match=r"^Kernel error: ") as damage:
        RemotePlace(storage, "t").by_delta(lambda uri, options: DeltaTable(uri, storage_options=options))
    assert SECRET not in str(damage.value)


def test_delta_commits_through_faults(patient):
    storage, behaviour = patient
    behaviour.next = ["500", "pass", "hang up", "pass", "503"]
    committed(storage)
    assert DeltaTable(storage.delta_uri("t"), storage_options=storage.delta_options).version() == 0


def test_options_are_silent(s3):
    assert SECRET not in repr(storage_at("s3://bucket/faults", options_for(s3)))
