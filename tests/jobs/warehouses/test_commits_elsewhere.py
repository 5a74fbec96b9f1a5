"""Commits to tables elsewhere, which we write ourselves, are those that delta-rs makes on a local disk."""

import json

import pytest
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import read_whole, write_once
from jobs.warehouses import delta_commits
from jobs.warehouses.delta_commits import commit
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, files_of, open_table, sequence_of
from jobs.warehouses.leftovers import leftovers
from schemas.tables import TABLES
from tests.builders.storages.kinds import ELSEWHERE, storage

__all__ = ["storage"]

pytestmark = pytest.mark.parametrize("storage", ELSEWHERE, indirect=True)

STATS = {"numRecords": 5, "minValues": {"cluster": 'prod ü " %20'}, "maxValues": {"cluster": "x"}, "nullCount": {}}
FIRST = DataFile("part-1.parquet", 10, 5, json.dumps(STATS, ensure_ascii=False), is_provisional=True)
SECOND = DataFile("part-2.parquet", 20, 5, '{"numRecords":5}', is_data_change=False, is_provisional=False)
# As other writers name files of a partition.
OTHER = DataFile(
    "is_provisional=false/part-00000-a.c000.snappy.parquet", 30, 1, '{"numRecords":1}', is_provisional=False
)
CHANGES = [
    Change((FIRST, OTHER)),
    Change((SECOND,), (RemovedFile(FIRST.name, is_data_change=False), RemovedFile(OTHER.name, is_data_change=True))),
    Change(),
    Change((FIRST,)),
    Change((), (RemovedFile(SECOND.name, is_data_change=True),)),
]


@pytest.fixture
def is_ours(monkeypatch):
    """Of each commit but those that make a table."""
    asked, result = delta_commits.is_written, []

    def is_written(*words):
        result.append(asked(*words))
        return result[-1]

    monkeypatch.setattr(delta_commits, "is_written", is_written)
    return result


def committed(folder, table, changes):
    delta = None
    for number, change in enumerate(changes, 1):
        delta = commit(folder, TABLES[table], change, number, number * 1000, delta)
        assert sequence_of(folder, delta) == number or change == Change()
        # Again, as the run after one that was killed does.
        assert commit(folder, TABLES[table], change, number, number * 1000, delta).version() == delta.version()
    assert delta is not None
    return delta


def actions(text):
    """Without what is null, or what no reader needs: when, and by which program."""
    result = []
    for line in text.splitlines():
        ((name, about),) = json.loads(line).items()
        left_out = ("engineInfo", "clientVersion", "timestamp", "lastUpdated", "extendedFileMetadata", "id")
        result.append({name: {key: value for key, value in about.items() if value is not None and key not in left_out}})
    return result


@pytest.mark.parametrize("table", ["ownership_intervals", "replayed_groups"])
def test_they_are_those_of_delta_rs(storage, tmp_path, table, is_ours):
    folder = RemotePlace(storage, "t")
    ours, theirs = committed(folder, table, CHANGES), committed(LocalPlace(tmp_path / "t"), table, CHANGES)
    assert is_ours == [True] * 3 + [False] * 3
    assert ours.version() == theirs.version() == 3
    assert files_of(ours).equals(files_of(theirs))
    for version in range(4):
        name = f"_delta_log/{version:020}.json"
        text = read_whole(storage, f"t/{name}").decode()
        assert actions(text) == actions((tmp_path / "t" / name).read_text()), version
        opened = open_table(folder, version)
        assert opened is not None
        assert files_of(opened).equals(files_of(DeltaTable(tmp_path / "t", version=version)))


def test_what_others_committed_meanwhile_stays(storage, is_ours):
    folder, table = RemotePlace(storage, "t"), TABLES["replayed_groups"]
    delta = commit(folder, table, Change((FIRST,)), 1, 1, None)
    other = DeltaTable(storage.delta_uri("t"), storage_options=storage.delta_options)
    other.create_write_transaction([AddAction("other.parquet", 1, {}, 1, True, "{}")], "append", other.schema(), [])
    after = commit(folder, table, Change((SECOND,)), 2, 2, delta)
    assert (after.version(), sequence_of(folder, after)) == (2, 2)
    assert set(files_of(after).column("path").to_pylist()) == {FIRST.name, SECOND.name, "other.parquet"}
    # Written by a server whose answer was lost, or by the run before, which was killed.
    assert commit(folder, table, Change((SECOND,)), 2, 2, other).version() == 2
    assert is_ours == [False, False]


def test_a_commit_that_was_killed_is_none(storage):
    """What is left of it has another name."""
    table = TABLES["replayed_groups"]
    folder = RemotePlace(storage, table.folder)
    delta = commit(folder, table, Change((FIRST,)), 1, 1, None)
    begun = f"{table.folder}/_delta_log/{1:020}.json.0123456789abcdef0123456789abcdef.begun"
    write_once(storage, begun, b'{"add"')
    assert leftovers(RemotePlace(storage), []) == [RemotePlace(storage, begun)]
    opened = open_table(folder)
    assert opened is not None
    assert opened.version() == 0
    assert commit(folder, table, Change((SECOND,)), 2, 2, delta).version() == 1


def test_tables_with_properties_of_others_are_left_to_delta_rs(storage, is_ours):
    folder, table = RemotePlace(storage, "t"), TABLES["replayed_groups"]
    delta = commit(folder, table, Change((FIRST,)), 1, 1, None)
    delta.alter.set_table_properties({"delta.appendOnly": "true"})
    assert commit(folder, table, Change((SECOND,)), 2, 2, delta).version() == 2
    assert is_ours == [False]


def test_delta_rs_makes_the_checkpoints(storage, is_ours, monkeypatch):
    monkeypatch.setattr(delta_commits, "CHECKPOINT_VERSIONS", 3)
    folder, table = RemotePlace(storage, "t"), TABLES["replayed_groups"]
    delta = None
    for number in range(1, 6):
        delta = commit(folder, table, Change((DataFile(f"{number}", 1, 1, "{}"),)), number, number, delta)
    assert is_ours == [True, False, True, True]
