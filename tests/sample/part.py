"""A part of the sample's log, for tests that ask whether runs of any kind give equal rows: most of what a small run
costs it costs for each offsets partition."""

import random
import shutil
from pathlib import Path

import pytest

from tests.drawn_cases import draw_seed

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
# A group with many generations, and transactions for several groups.
ALWAYS = ("__consumer_offsets-0", "__consumer_offsets-1")


@pytest.fixture(scope="module", params=["part", pytest.param("whole", marks=pytest.mark.soak)])
def sample_part(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """These two partitions and one that the seed of the run draws; in soak all of them."""
    return SAMPLE if request.param == "whole" else write_part(tmp_path_factory.mktemp("sample") / "part")


def write_part(folder: Path) -> Path:
    others = sorted(each.name for each in SAMPLE.glob("__consumer_offsets-*") if each.name not in ALWAYS)
    for name in (*ALWAYS, random.Random(f"{draw_seed()} part").choice(others)):
        shutil.copytree(SAMPLE / name, folder / name)
    return folder


def num_partitions(part: Path) -> int:
    return len(list(part.glob("__consumer_offsets-*")))
