"""Warehouses that tests of faults copy: they take seconds to make."""

import pytest

from tests.faults.killed_runs import Undisturbed


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    found = Undisturbed(tmp_path_factory.mktemp("undisturbed"))
    found.make()
    return found
