"""How a finding says that an expectation does not hold: in words if it is about bounds, else as declared."""

import json
from typing import Any

import pytest

from jobs.gating.results import failed_finding

ABOUT = {"cluster": "a", "run_id": "r"}
BETWEEN = "expect_column_values_to_be_between"


def expectation_line(
    observed: Any, threshold: Any, kind: str = BETWEEN, first: str | None = "all", column: str = "num_lost"
) -> str:
    row = {"suite": "mine", "expectation": kind, "column_name": column, "severity": "warning", "first_evidence": first,
           "observed": json.dumps(observed), "threshold": json.dumps(threshold), "query": None, "num_unexpected": 1,
           "success": False, "error": None}  # fmt: skip
    return failed_finding(row, ABOUT).message


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        ({"min_value": 0, "max_value": 0}, "expected 0"),
        ({"min_value": 0.5, "max_value": 2}, "expected 0.5 to 2"),
        ({"max_value": 2}, "expected 2 or less"),
        ({"min_value": 9}, "expected 9 or more"),
    ],
)
def test_bounds_are_printed_in_words(threshold: dict[str, float], expected: str) -> None:
    assert expectation_line({"num_lost": 3.0}, threshold) == f"suite mine: num_lost is 3, {expected}"
    of_slices = expectation_line({"num_lost": {"min": 0.0, "max": 3.0}}, threshold, first="6")
    assert of_slices == f"suite mine: num_lost is 0 to 3, {expected}, first in 6"


def test_other_expectations_are_printed_as_they_are() -> None:
    bounds = '{"max_value": 2, "mostly": 0.9}'
    assert expectation_line({"num_lost": 3.0}, json.loads(bounds)) == (
        f'suite mine: {BETWEEN} of num_lost does not hold: {{"num_lost": 3.0}}, expected {bounds}'
    )
    assert expectation_line({"rows": 3}, {"value": 2}, "expect_table_row_count_to_equal", column="") == (
        'suite mine: expect_table_row_count_to_equal of all rows does not hold: {"rows": 3}, expected {"value": 2}'
    )
