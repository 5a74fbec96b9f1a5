"""Files of snapshots, from local folders, other file systems and a real broker's own tool."""

import gzip
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from jobs.output.failure import Failure
from jobs.sources.snapshot_files import read_snapshots
from jobs.storage.options import StorageOptions
from jobs.storage.stored_files import Storage, write_once
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import storage
from tests.builders.storages.s3_server import free_port, options_for
from tests.kafka.broker import kafka_command, running
from tests.kafka.releases import RELEASES
from udfs.arrays.arrow_schema import table_schema

__all__ = ["storage"]

NOW = 1_700_000_000_000
OURS = json.dumps(
    {
        "captured_at": NOW,
        "topics": [{"topic": "t", "partitions": [{"partition": 0, "log_end_offset": 7, "racks": ["r"]}]}],
        "brokers": [{"id": 1, "host": "h", "port": 9092, "rack": None}],
        "settings": {"offsets.retention.minutes": 60},
    }
)


def time_of(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def read(*paths: object, at: int | None = NOW, **how: Any) -> dict[str, pa.Table]:
    read = read_snapshots([str(path) for path in paths], "prod", "run-1", at, **{"options": StorageOptions(), **how})
    return read.tables


def ends(tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
    names = ("captured_time", "topic", "partition", "log_end_offset")
    return [tuple(row[name] for name in names) for row in tables["topic_snapshots"].to_pylist()]


def failure_of(*paths: object, **how: Any) -> str:
    with pytest.raises(Failure) as caught:
        read(*paths, **how)
    assert caught.value.code == ExitCode.UNREADABLE_INPUT
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_are_those_of_the_declared_tables(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(OURS)
    tables = read(tmp_path / "a.jsonl", at=None)
    for name in ("cluster_snapshots", "topic_snapshots"):
        assert tables[name].schema.equals(table_schema(TABLES[name]), check_metadata=True)
    (cluster,) = tables["cluster_snapshots"].to_pylist()
    assert cluster == {
        "cluster": "prod", "captured_time": time_of(NOW), "run_id": "run-1",
        "brokers": [{"id": 1, "host": "h", "port": 9092, "rack": None}], "offsets_partitions": None,
        "settings": [("offsets.retention.minutes", "60")], "group_settings": None,
        "cluster_id": None, "offsets_topic_id": None,
    }  # fmt: skip
    (topic,) = tables["topic_snapshots"].to_pylist()
    assert topic == {
        "cluster": "prod", "captured_time": time_of(NOW), "topic": "t", "partition": 0, "topic_id": None,
        "log_start_offset": None, "log_end_offset": 7, "leader_epoch": None, "run_id": "run-1", "racks": ["r"],
    }  # fmt: skip


def test_text_is_of_the_time_given_or_of_the_files_own(tmp_path: Path) -> None:
    path = tmp_path / "offsets.txt"
    path.write_text("t:0:7\n")
    os.utime(path, ns=(0, NOW * 1_000_000 + 999_999))
    assert ends(read(path, at=None)) == [(time_of(NOW), "t", 0, 7)]
    assert ends(read(path, at=5)) == [(time_of(5), "t", 0, 7)]
    path.write_text(OURS)
    assert ends(read(path, at=5)) == [(time_of(NOW), "t", 0, 7)]


def test_folders_patterns_and_gzip_give_each_snapshot_once(tmp_path: Path) -> None:
    (tmp_path / "one" / "deep").mkdir(parents=True)
    (tmp_path / "one" / "deep" / "b.gz").write_bytes(gzip.compress(b"t:1:8\nt:0:7\n"))
    (tmp_path / "one" / ".hidden").write_text("nonsense")
    (tmp_path / "two.txt").write_text("t:0:7\n")
    (tmp_path / "two.json").write_bytes(b"\xef\xbb\xbf" + OURS.encode())
    result = [(time_of(NOW), "t", 0, 7), (time_of(NOW), "t", 1, 8)]
    for paths in ([tmp_path], [tmp_path / "one", tmp_path / "two*"], [f"{tmp_path}/**", f"file:{tmp_path}/two.txt"]):
        tables = read(*paths)
        assert ends(tables) == result
        assert len(tables["cluster_snapshots"]) == 1
        assert tables["cluster_snapshots"]["brokers"].null_count == 0


def test_a_name_with_a_bracket_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "a[1].txt").write_text("t:0:7")
    assert len(ends(read(tmp_path / "a[1].txt"))) == 1


def test_what_cannot_be_read_is_reported_with_its_file(tmp_path: Path) -> None:
    def why_refused(content: bytes) -> str:
        (tmp_path / "a").write_bytes(content)
        return failure_of(tmp_path).removeprefix(f"{tmp_path}/a: ")

    assert why_refused(b"") == "empty; give snapshots"
    assert why_refused(b"t:0:1\nt:0\n") == 'line 2: "t:0", topic:partition:offset expected'
    assert why_refused(b"t:0:1\n\xff") == "byte 0xff at position 6 is not UTF-8; give the file in UTF-8"
    assert why_refused(gzip.compress(b"t:0:1\n" * 99)[:-9]).startswith("not a whole gzip file, ")
    assert why_refused(gzip.compress(b"t:0:1\n")[:12] + bytes(20)).startswith("not a whole gzip file, ")
    (tmp_path / "a").write_text("t:0:1")
    (tmp_path / "b").write_text("t:0:2")
    contradiction = f"log_end_offset is 1 in {tmp_path}/a, but 2 in {tmp_path}/b"
    assert failure_of(tmp_path).endswith(contradiction)
    (tmp_path / "empty").mkdir()
    for missing in (tmp_path / "none", tmp_path / "*.none", tmp_path / "empty"):
        assert failure_of(missing).startswith(f"{missing}: no such file")


# Of files that all hold other topics: which of them a place means, as a shell on a local disk would say.
FILES = ("a.txt", "b.gz", "in/c.txt", "in/deep/d.txt", ".hidden", "in/.left/e.txt", "[f].txt", "f.txt")
MEANT = {
    "": ["[f].txt", "a.txt", "b.gz", "f.txt", "in/c.txt", "in/deep/d.txt"],
    "/": ["[f].txt", "a.txt", "b.gz", "f.txt", "in/c.txt", "in/deep/d.txt"],
    "/a.txt": ["a.txt"],
    "/in": ["in/c.txt", "in/deep/d.txt"],
    "/in/": ["in/c.txt", "in/deep/d.txt"],
    "/[f].txt": ["[f].txt"],
    "/[ab].*": ["a.txt", "b.gz"],
    "/?.txt": ["a.txt", "f.txt"],
    "/i*": ["in/c.txt", "in/deep/d.txt"],
    "/*/*.txt": ["in/c.txt"],
    "/**/d*": ["in/deep/d.txt"],
    "/**/*.txt": ["[f].txt", "a.txt", "f.txt", "in/c.txt", "in/deep/d.txt"],
    "/.hid*": [".hidden"],
    "/in/.left/*": ["in/.left/e.txt"],
}


@pytest.mark.drawn(10)
@pytest.mark.parametrize("place", MEANT)
def test_files_of_any_storage_are_named_as_local_ones_are(storage: Storage, place: str) -> None:
    for number, name in enumerate(FILES):
        text = f"{name}:{number}:7\n".replace("/", "_").replace("[", "").replace("]", "")
        content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        write_once(storage, name, content)
    result = read(f"{storage.place}{place}", at=None, options=options_at(storage))
    assert {row[2] for row in ends(result)} == {FILES.index(name) for name in MEANT[place]}
    own = (storage.find(MEANT[place][0]) or pytest.fail()).modified_ms
    assert time_of(own) in {row[0] for row in ends(result)}


def options_at(storage: Storage) -> StorageOptions:
    return getattr(storage, "options", StorageOptions())


def test_what_a_storage_does_not_have_is_reported_in_one_line(storage: Storage) -> None:
    write_once(storage, "a.txt", b"t:0")
    place, options = storage.place, options_at(storage)
    for missing in (f"{place}/none", f"{place}/*.none", f"{place}/none/*"):
        assert failure_of(missing, options=options).startswith(f"{missing}: no such file, or a folder without files")
    assert failure_of(place, options=options) == f'{place}/a.txt: line 1: "t:0", topic:partition:offset expected'


def test_buckets_that_cannot_be_reached_are_reported_in_one_line(s3: str) -> None:
    message = "no such bucket or container; give one that is there"
    for place in ("s3://nosuchbucket/a.txt", "s3://nosuchbucket", "s3://nosuchbucket/*.txt"):
        assert failure_of(place, options=options_for(s3)).endswith(message)
    nobody = options_for(f"http://127.0.0.1:{free_port()}", retry_seconds=1)
    assert "no answer from the server, tried for 1 s" in failure_of("s3://bucket/a.txt", options=nobody)
    with pytest.raises(Failure, match="unknown kind of storage ftp:; give a path") as unknown:
        read("ftp://host/a.txt")
    assert unknown.value.code == ExitCode.USAGE


@pytest.mark.broker
@pytest.mark.parametrize("release", RELEASES)
def test_what_a_brokers_own_tool_prints_is_a_snapshot(release: str, tmp_path: Path) -> None:
    with running(RELEASES[release], tmp_path) as broker:
        admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
        admin.create_topics([NewTopic("a.b_c-d", 2, 1), NewTopic("empty", 1, 1)])
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
        for partition in (0, 1, 1):
            producer.send("a.b_c-d", b"v", partition=partition).get(timeout=30)
        producer.close()
        admin.close()
        arguments = ["--bootstrap-server", broker.bootstrap]
        command = kafka_command(RELEASES[release], "org.apache.kafka.tools.GetOffsetShell", arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    path = tmp_path / "offsets.txt"
    path.write_text(done.stdout)
    reported = [end[1:] for end in ends(read(path)) if not str(end[1]).startswith("__")]
    assert reported == [("a.b_c-d", 0, 1), ("a.b_c-d", 1, 2), ("empty", 0, 0)]
