"""What groups did does not depend on where runs ended: random lives of all kinds of groups, with holes."""

import pytest

from tests.runs.group_runs import differences

LOGS, SOAKED_LOGS = 100, 100_000


@pytest.mark.parametrize("number", [LOGS, pytest.param(SOAKED_LOGS, marks=pytest.mark.soak)])
def test_runs_that_end_after_any_batch_give_the_rows_of_one_run(seed: int, number: int) -> None:
    """One log again: `differences([its seed])`."""
    assert next(differences(range(seed, seed + number)), None) is None
