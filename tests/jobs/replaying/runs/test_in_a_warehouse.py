"""Histories in a warehouse do not depend on the number of runs either."""

from pathlib import Path

import pytest

from tests.builders.logs.short_logs import short_log
from tests.runs.replayed_logs import assert_same
from tests.runs.warehouse_runs import histories

LOGS, SOAKED_LOGS = 1, 1_000


@pytest.mark.parametrize("number", [LOGS, pytest.param(SOAKED_LOGS, marks=pytest.mark.soak)])
def test_random_logs_have_the_history_of_a_full_replay_however_many_runs_they_came_in(
    tmp_path: Path, seed: int, number: int
) -> None:
    for each in range(seed, seed + number):
        (folder := tmp_path / str(each)).mkdir()
        several, one = histories(short_log(each), folder)
        assert_same(one, several, f"seed {each}")
