"""A storage of each kind that can be run here, with a folder of its own in it."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.configuration.settings import Settings, options_of
from jobs.storage.closes import wait_for_closes
from jobs.storage.local_storage import LocalStorage
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.place import Place
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.places.together import done_together
from jobs.storage.stored_files import Storage, StoredFile
from tests.builders.storages.s3_server import options_for

ELSEWHERE = ["s3", pytest.param("hdfs", marks=[pytest.mark.spark, pytest.mark.soak])]
KINDS = ["local", *ELSEWHERE]


@pytest.fixture(params=KINDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    own = uuid.uuid4().hex
    if request.param == "s3":
        return storage_at(f"s3://bucket/{own}/w", options_for(request.getfixturevalue("s3")))
    if request.param == "hdfs":
        return storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions())
    return storage_at(str(tmp_path / "w"), StorageOptions())


def place_of(storage: Storage, name: str) -> Place:
    return LocalPlace(Path(storage.place, name)) if isinstance(storage, LocalStorage) else RemotePlace(storage, name)


def copied(folder: Path, storage: Storage, name: str) -> str:
    """The URI under which the folder's files are."""

    def copy(path: Path) -> None:
        storage.replace(f"{name}/{path.relative_to(folder)}".lstrip("/"), path.read_bytes())

    done_together(RemotePlace(storage), copy, filter(Path.is_file, folder.rglob("*")))
    # A file gets the time of its close: one that changes while it is read is refused.
    wait_for_closes()
    return f"{storage.place}/{name}".rstrip("/")


def fetched(storage: Storage, name: str, folder: Path) -> Path:
    """A copy on a local disk of what is in a folder there."""

    def fetch(file: StoredFile) -> None:
        path = folder / Path(file.name).relative_to(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with storage.open(file.name) as reader:
            path.write_bytes(reader.read())

    done_together(RemotePlace(storage), fetch, storage.list(name))
    return folder


@pytest.fixture(scope="module", params=ELSEWHERE)
def elsewhere(request: pytest.FixtureRequest) -> Iterator[str]:
    """A place of its own that is not local, and that commands reach as people do: by the environment."""
    own = uuid.uuid4().hex
    if request.param == "hdfs":
        yield f"{request.getfixturevalue('hdfs')}/{own}"
        return
    with pytest.MonkeyPatch.context() as patch:
        for name, value in options_for(request.getfixturevalue("s3")).values:
            patch.setenv(name.upper(), value)
        yield f"s3://bucket/{own}"


def copied_to(folder: Path, place: str) -> str:
    """The place, with the files of the folder in it."""
    return copied(folder, storage_at(place, options_of(Settings())), "")
