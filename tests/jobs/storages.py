"""A storage of each kind that can be run here, with a folder of its own in it."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.storage.options import StorageOptions
from jobs.storage.places import storage_at
from jobs.storage.stored_files import Storage
from tests.jobs.mini_hdfs import mini_hdfs
from tests.jobs.s3_server import make_bucket, options_for, s3_server

KINDS = ["local", "s3", pytest.param("hdfs", marks=pytest.mark.spark)]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as url:
        make_bucket(url, "bucket")
        yield url


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mini_hdfs(tmp_path_factory.mktemp("hdfs") / "cluster") as uri:
        yield uri


@pytest.fixture(params=KINDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    own = uuid.uuid4().hex
    if request.param == "s3":
        return storage_at(f"s3://bucket/{own}/w", options_for(request.getfixturevalue("s3")))
    if request.param == "hdfs":
        return storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions())
    return storage_at(str(tmp_path / "w"), StorageOptions())


def copied(folder: Path, storage: Storage, name: str) -> str:
    """The URI under which the folder's files are."""
    for path in folder.rglob("*"):
        if path.is_file():
            storage.replace(f"{name}/{path.relative_to(folder)}", path.read_bytes())
    return f"{storage.place}/{name}"


def fetched(storage: Storage, name: str, folder: Path) -> Path:
    """A copy on a local disk of what is in a folder there."""
    for file in storage.list(name):
        path = folder / Path(file.name).relative_to(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with storage.open(file.name) as reader:
            path.write_bytes(reader.read())
    return folder
