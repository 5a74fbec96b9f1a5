"""No view holds a limit: what is too much or too long is said by settings, which the gate notes in gate_limits."""

import re
from dataclasses import fields

import pytest

from jobs.configuration.settings import Gate
from schemas.views import VIEWS

# Units of time, percent, and the bounds of a type.
CONVERSIONS = {"24", "60", "100", "1000", "3600", "86400", str(2**63 - 1)}
# Widths of types, numbers of record types, how bad a row is beside others.
NO_LIMITS = (r"DECIMAL\(\d+, \d+\)", r"(?:WHEN|THEN|ELSE) \d+", r"\d+ AS record_type")
# What is no setting: a length that a column has in its name or its comment, a row's own length, and what Kafka says.
KNOWN = {
    "v_decode_coverage": {"INTERVAL '7' DAY"},
    "v_group_verdict": {"INTERVAL '7' DAY"},
    "v_commit_volume": {"INTERVAL '1' HOUR"},
    "v_expectation_daily": {"INTERVAL '7' DAY", "INTERVAL '28' DAY", "INTERVAL '89' DAY", "INTERVAL '90' DAY"},
    # The default of delete.retention.ms, where no snapshot has it.
    "v_offsets_topic_health": {"86400000"},
    # No topic can have more partitions.
    "v_partition_coverage": {"20000000"},
    # What makes a restart one is that nobody comes back for a third time.
    "v_rebalance_storms": {"2"},
}
# Has texts only, and the lengths of ids of tools.
OF_TEXTS = {"v_enums", "v_inventory"}


def numbers(sql: str) -> set[str]:
    """Lengths of time, and numbers above 1 that convert no unit."""
    sql = re.sub(r"--[^\n]*", "", sql)
    lengths = set(re.findall(r"INTERVAL '\d+' [A-Z]+\b(?! \*)", sql))
    rest = re.sub(r"INTERVAL '\d+' \w+", "", sql)
    for each in NO_LIMITS:
        rest = re.sub(each, "", rest)
    rest = re.sub(r"'(?:[^']|'')*'", "''", rest)
    found = set(re.findall(r"(?<![\w.])\d+(?![\w.])", rest))
    return lengths | {each for each in found if int(each) > 1 and each not in CONVERSIONS}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_no_limit_of_its_own(name: str) -> None:
    found = numbers(VIEWS[name].sql)
    if name in OF_TEXTS:
        found = {each for each in found if each.startswith("INTERVAL")}
    assert found == KNOWN.get(name, set())


def test_what_views_compare_with_are_numbers_of_the_gate() -> None:
    named = {each for view in VIEWS.values() for each in re.findall(r"setting = '(\w+)'", view.sql)}
    settings = {each.name for each in fields(Gate) if isinstance(each.default, int)}
    assert named and named <= settings
    reading = {name for name, view in VIEWS.items() if "gate_limits" in view.reads}
    assert reading == {name for name, view in VIEWS.items() if "gate_limits" in view.sql}


def test_a_limit_is_found_wherever_it_is() -> None:
    assert numbers("a <= b - INTERVAL '7' DAY") == {"INTERVAL '7' DAY"}
    assert numbers("a <= b - INTERVAL '1' DAY * dead_group_days AND c * 1000 > 1") == set()
    assert numbers("n >= 5 AND m * 100 <= n * 6") == {"5", "6"}
    assert numbers("CASE WHEN kind = '9' THEN 3 ELSE 4 END") == set()
