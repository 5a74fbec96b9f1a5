"""docs/performance.md is what the kept figures say."""

from pathlib import Path

import pytest

from benchmarks.kept_figures import conditions, keep, kept
from benchmarks.page import PAGE, SECTIONS, SLOPE, page
from benchmarks.rounds import Limit
from benchmarks.slope import AT_MOST, REST, WHOLE, StepCost

ROOT = Path(__file__).parents[2]


def figure(cost):
    return {**cost.facts(), "cells": cost.cells()}


def test_the_page_is_current():
    assert (ROOT / PAGE).read_text() == page(kept())


def test_each_measure_has_a_place_on_the_page():
    # It loads every benchmark, and each process that collects this file would.
    from benchmarks.__main__ import MEASURES

    assert sorted([SLOPE, *(name for names in SECTIONS.values() for name in names)]) == sorted(MEASURES)


def test_a_measure_replaces_its_figures_and_a_part_only_its_own(tmp_path):
    path = tmp_path / "figures.json"
    for part, value in (("a", 1), ("b", 2), ("a", 3)):
        keep("skew", conditions(), [{"value": value}], path, part)
    assert {name: each["figures"] for name, each in kept(path).items()} == {
        "skew a": [{"value": 3}],
        "skew b": [{"value": 2}],
    }
    keep("skew", conditions(), [], path)
    assert list(kept(path)) == ["skew"]


def test_a_billion_records_cost_what_the_last_ones_did():
    # 10 s to start, 100 s for ten million; 2 s of two processors for each second.
    costs = [StepCost(WHOLE, number, 10 + number / 1e5, 20 + number / 5e4) for number in (10**6, 10**7, 10**8)]
    text = page({SLOPE: {**conditions(), "figures": [figure(each) for each in costs]}})
    # 10,010 s and 20,020 s.
    assert "About 2.8 hours by the clock, and 5.6 hours of one core." in text
    assert "| 1,000,000 | 20.0 s | 40.0 s | 20.00 | 40.00 |  |" in text
    # 220 s for ten million are 22 µs a record, so 0.55 of 40.
    assert "| 10,000,000 | 110.0 s | 220.0 s | 11.00 | 22.00 | 0.55 |" in text


def test_steps_are_parts_of_the_whole():
    costs = [StepCost(WHOLE, 100, 8.0, 9.0), StepCost("ingest", 100, 2.0), StepCost(REST, 100, 6.0)]
    costs += [StepCost(WHOLE, 10, 4.0, 9.0), StepCost("ingest", 10, 1.0), StepCost(REST, 10, 3.0)]
    text = page({SLOPE: {**conditions(), "figures": [figure(each) for each in costs]}})
    assert "| step | 10 records | 100 records |" in text
    assert "| ingest | 1.0 s, 25% | 2.0 s, 25% |" in text


@pytest.mark.parametrize(("processor", "verdict"), [(900.0, "aim reached"), (1_150.0, "reached"), (1_300.0, "missed")])
def test_a_record_may_cost_a_fifth_more_in_the_largest_log(processor, verdict):
    cost = StepCost(WHOLE, 10**8, 100.0, processor, of_a_tenth=100.0)
    assert AT_MOST.at_most == 1.2
    assert cost.verdict == verdict


def test_figures_of_one_run_have_its_number():
    cells = Limit("memory", "worker 1 MB", 1e6, 2e6).cells()
    busy, idle = ({**conditions(), "load": load, "figures": [{"cells": cells}]} for load in (9.0, 0.1))
    text = page({"dump": busy, "memory": idle, "lag": idle})
    assert text.count("| reached | 1 |") == 1
    assert text.count("| reached | 2 |") == 2
