"""A storage refuses a request in the middle of a command, as while somebody changes permissions: nothing of the
warehouse is taken for damaged, and nothing of it is removed."""

import random
import shutil
import uuid

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.warehouses.delta_commits import clear
from jobs.warehouses.delta_tables import Change
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import fetched
from tests.builders.storages.s3_server import options_for, proxy
from tests.faults.killed_runs import put
from tests.faults.two_clusters import DERIVED, mix_files, two_clusters
from tests.runs.replayed_logs import row_texts

Capture = pytest.CaptureFixture[str]
REFUSED = "permission denied (403 Forbidden"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return two_clusters(tmp_path_factory.mktemp("refused"))


@pytest.fixture
def behaviour(s3, monkeypatch):
    with proxy(s3) as (url, behaviour):
        for name, value in options_for(url).values:
            monkeypatch.setenv(name.upper(), value)
        yield behaviour


@pytest.fixture
def storage(s3):
    """Not through the proxy."""
    return storage_at(f"s3://bucket/{uuid.uuid4().hex}/w", options_for(s3))


def test_the_doctor_says_what_the_storage_said_and_finds_no_damage(whole, storage, behaviour, capsys, tmp_path, seed):
    put(whole, storage, tmp_path / "put")
    doctor = ["doctor", "--warehouse", storage.place]
    assert cli.main(doctor) == ExitCode.CLEAN
    number = len(behaviour.requests)
    assert number > len(TABLES)
    # Each waits for its answer, so what is asked of many tables is asked together.
    assert behaviour.most_at_once > 8
    chance = random.Random(seed)
    # Among the last are those of delta-rs, which reads files by itself.
    for good in (0, number - 10, chance.randrange(number)):
        behaviour.next, behaviour.always = ["pass"] * good, "403"
        capsys.readouterr()
        code = cli.main(doctor)
        shown = capsys.readouterr()
        assert (code, shown.out) == (ExitCode.UNUSABLE_WAREHOUSE, ""), good
        (line,) = shown.err.splitlines()
        assert line.startswith(f"groupscope: {storage.place}") and REFUSED in line, (good, line)


@pytest.mark.parametrize("good", range(3))
def test_a_log_that_may_not_be_read_is_not_removed(whole, storage, behaviour, tmp_path, good):
    put(whole, storage, tmp_path / "put")
    behind = storage_at(storage.place, options_of(Settings()))
    before = sorted(file.name for file in storage.list())
    behaviour.next = [*["pass"] * good, "403"]
    with pytest.raises(PermissionError, match="permission denied"):
        clear(RemotePlace(behind, TABLES["rebalances"].folder), Change(), sequence=99)
    assert sorted(file.name for file in storage.list()) == before


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", ["rebalances", "topics"])
def test_rows_of_other_clusters_in_a_file_that_may_not_be_read_stay(whole, storage, behaviour, capsys, tmp_path, name):
    shutil.copytree(whole, tmp_path / "mixed")
    mix_files(tmp_path / "mixed", name)
    put(tmp_path / "mixed", storage, tmp_path / "put")
    words = ["replay", "--full", "--warehouse", storage.place, "--cluster", "two"]
    behaviour.next, behaviour.only = ["403"], f"{TABLES[name].folder}/part-"
    capsys.readouterr()
    assert cli.main(words) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert REFUSED in line and "--full" not in line, line
    assert cli.main(words) == ExitCode.CLEAN
    assert row_texts(fetched(storage, "", tmp_path / "found"), DERIVED["replay"]) == row_texts(whole, DERIVED["replay"])
