"""What is typed and shown on a terminal, on the warehouse of the sample."""

from pathlib import Path

import pytest

from tests.audited_sample import audited_sample

__all__ = ["audited_sample", "folder"]


@pytest.fixture(scope="session")
def folder(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a user types: the default warehouse is there."""
    place = tmp_path_factory.mktemp("typed")
    (place / "warehouse").symlink_to(audited_sample)
    return place
