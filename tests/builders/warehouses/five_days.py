"""Five days of runs that nobody maintained, made once for all tests that look at what `maintain` leaves of them."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.year_of_runs import Year
from tests.once_a_run import once_a_run

DAYS, RUNS_A_DAY, KEEP_DAYS = 5, 3, 2
# Where the simulated clock stands.
CLOCK = "clock.json"


@pytest.fixture(scope="session")
def five_days(tmp_path_factory: pytest.TempPathFactory) -> Year:
    """Its warehouse, which tests only read: they copy it before they write."""
    folder = once_a_run(tmp_path_factory, "five_days", make)
    return Year(folder, RUNS_A_DAY, timedelta(days=KEEP_DAYS), **json.loads((folder / CLOCK).read_text()))


def make(folder: Path) -> None:
    year = Year(folder, RUNS_A_DAY, timedelta(days=KEEP_DAYS))
    for day in range(DAYS):
        year.day(day)
    (folder / CLOCK).write_text(json.dumps(year.state()))
