"""A random log, a warehouse with one run over its beginning, and the rest as a source of the next run."""

from pathlib import Path

import numpy as np
import pytest

from tests.builders.logs.copies import WrittenBatch, random_log, write_copy
from tests.runs.ingested import ingest


@pytest.fixture
def log(rng: np.random.Generator) -> list[WrittenBatch]:
    return random_log(rng, 12)


@pytest.fixture
def warehouse(tmp_path: Path, log: list[WrittenBatch], rng: np.random.Generator) -> Path:
    """With one run in it."""
    ingest(tmp_path / "w", "--source", f"segments:{write_copy(tmp_path / 'first', 3, log[:4], rng)}")
    return tmp_path / "w"


def named(path: Path) -> Path:
    """A segment's place in a folder of a partition."""
    folder = path / "__consumer_offsets-3"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{0:020}.log"


@pytest.fixture
def source(tmp_path: Path, log: list[WrittenBatch], rng: np.random.Generator) -> str:
    return f"segments:{write_copy(tmp_path / 'more', 3, log, rng)}"
