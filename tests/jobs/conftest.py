"""Servers of storages, one of each for all tests: they take seconds to start, and each test has a folder of its own."""

from collections.abc import Iterator

import pytest

from tests.jobs.mini_hdfs import mini_hdfs
from tests.jobs.s3_server import make_bucket, s3_server


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    with s3_server() as url:
        make_bucket(url, "bucket")
        yield url


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mini_hdfs(tmp_path_factory.mktemp("hdfs") / "cluster") as cluster:
        yield cluster.uri
