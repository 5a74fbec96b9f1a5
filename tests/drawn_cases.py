"""Tests with more cases than a run has time for: of `@pytest.mark.drawn(2)` the seed draws two, others are for
`make soak`, which runs all. A run that names its tests draws nothing.

Tests of one file that have equally many cases get the same ones, so that what a module's fixture makes for a case is
made for few. Where they have not, `@pytest.mark.drawn_parameter("place", 1)` draws so many values of a parameter first,
the same ones for all tests of the file.

Whole tests too may take turns: of those of a file that are marked `@pytest.mark.drawn_together(2)` the seed draws two,
with all their cases. That is for tests which each start something slow, such as Spark, for a question of their own.

`GROUPSCOPE_ORDER=drawn` draws the order too, of files and of the tests in each: none may rest on what another one left,
but for cases that are marked `@pytest.mark.in_order`.
"""

import os
import random
import secrets
from collections import defaultdict

import pytest

# Processes that run tests side by side must draw the same, so the first one hands its choice to the others.
VARIABLE = "GROUPSCOPE_DRAW"
ORDER, DRAWN = "GROUPSCOPE_ORDER", "drawn"


def draw_seed():
    return os.environ.setdefault(VARIABLE, os.environ.get("GROUPSCOPE_SEED") or str(secrets.randbelow(2**32)))


def is_order_drawn():
    return os.environ.get(ORDER) == DRAWN


def draw_order(items):
    """Files stay whole, and so do the cases of a test with equal fixtures, which pytest then puts together again."""
    by_file = defaultdict(list)
    for item in items:
        by_file[item.nodeid.partition("::")[0]].append(item)
    chance = random.Random(f"{draw_seed()} order")
    for tests in by_file.values():
        in_order = [each for each in tests if each.get_closest_marker("in_order")]
        chance.shuffle(tests)
        places = [place for place, each in enumerate(tests) if each in in_order]
        for place, each in zip(places, in_order, strict=True):
            tests[place] = each
    files = list(by_file.values())
    chance.shuffle(files)
    items[:] = [item for tests in files for item in tests]


def leave_others_to_soak(config, items):
    if any("::" in argument for argument in config.args):
        return
    runs_all = "soak" in config.option.markexpr.replace("not soak", "")
    leave_out_values(items, runs_all=runs_all)
    leave_out_tests(items, runs_all=runs_all)
    for name, cases in drawn_tests(items).items():
        kept = [] if runs_all else drawn(cases, f"{draw_seed()} {name.partition('::')[0]}")
        for case in cases:
            if case not in kept:
                case.add_marker(pytest.mark.soak)


def leave_out_tests(items, *, runs_all):
    for (file, number), by_test in tests_together(items).items():
        names = sorted(by_test)
        chance = random.Random(f"{draw_seed()} {file} together")
        kept = [] if runs_all else chance.sample(names, min(number, len(names)))
        for name in {*names} - {*kept}:
            for case in by_test[name]:
                case.add_marker(pytest.mark.soak)


def tests_together(items):
    """By file and how many of its tests are drawn, the cases of each of them."""
    result = {}
    for item in items:
        marker = item.get_closest_marker("drawn_together")
        if marker is not None and not item.get_closest_marker("soak"):
            (number,) = marker.args
            by_test = result.setdefault((item.nodeid.partition("::")[0], number), {})
            by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return result


def leave_out_values(items, *, runs_all):
    for (file, parameter, number), by_value in cases_by_value(items).items():
        values = sorted(by_value)
        chance = random.Random(f"{draw_seed()} {file} {parameter}")
        kept = [] if runs_all else chance.sample(values, min(number, len(values)))
        for value in {*values} - {*kept}:
            for case in by_value[value]:
                case.add_marker(pytest.mark.soak)


def cases_by_value(items):
    """By file, parameter and how many of its values are drawn; then by the place of the value in the list of all."""
    result = {}
    for item in items:
        for marker in item.iter_markers("drawn_parameter"):
            parameter, number = marker.args
            if isinstance(item, pytest.Function) and not item.get_closest_marker("soak") and has(item, parameter):
                by_value = result.setdefault((item.nodeid.partition("::")[0], parameter, number), {})
                by_value.setdefault(item.callspec.indices[parameter], []).append(item)
    return result


def has(item, parameter):
    return hasattr(item, "callspec") and parameter in item.callspec.indices


def drawn_tests(items):
    """Their cases that are no soak tests anyway."""
    result = defaultdict(list)
    for item in items:
        if item.get_closest_marker("drawn") and not item.get_closest_marker("soak"):
            result[item.nodeid.partition("[")[0]].append(item)
    return result


def drawn(cases, seed):
    marker = cases[0].get_closest_marker("drawn")
    assert marker is not None
    (number,) = marker.args
    return random.Random(seed).sample(list(cases), min(number, len(cases)))
