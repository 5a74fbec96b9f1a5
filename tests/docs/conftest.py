"""What several tests of the pages share."""

import pytest

from tests.audited_sample import audited_sample
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from tests.docs.built_site import site
from tests.docs.workplace import laid_out

__all__ = ["audited_sample", "site"]


@pytest.fixture(scope="session")
def untouched_workplace(audited_sample, tmp_path_factory):
    """Where nothing is typed that writes: the answers are those after `make audit`."""
    return laid_out(tmp_path_factory.mktemp("untouched"), audited_sample)


@pytest.fixture(scope="session")
def workplace(audited_sample, tmp_path_factory):
    """Where a user types, with the log of a broker beside it."""
    folder = laid_out(tmp_path_factory.mktemp("workplace"), audited_sample)
    segment(folder / "logs", batch(10, [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3)]), partition=3)
    return folder
