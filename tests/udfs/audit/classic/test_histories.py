"""Generations that Kafka's own clients made come out the same, whatever their release; altered ones do not."""

import os
import secrets
import sys
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any, Final

import pytest

from schemas.words.assignments import Verdict
from tests.builders.groups.altered_generations import ALTERATIONS, double, drop
from tests.builders.groups.classic_lives import Life, facts_of, lived, random_lives, records, table
from tests.udfs.assignors.client.test_client_assignors import JARS
from udfs.assignors.questions import LEADERS, Release
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import AuditRow
from udfs.audit.classic_audit import ClassicAudit
from udfs.audit.classic_variants import GENERATIONS_SINCE, LINES

pytestmark = pytest.mark.broker

Row = dict[str, Any]
LIVES: Final = 60
SOAK_LIVES: Final = 2_000
RACKS_SINCE: Final = (3, 5, 0)


def audited(rows: Sequence[Row], facts: Facts) -> list[AuditRow]:
    return ClassicAudit(facts, {}).take({"classic_group_metadata": table(rows)})


def wrong_rows(result: Sequence[AuditRow], rows: Sequence[Row], expected: Verdict = Verdict.SAME) -> str:
    wrong = [(each, row) for each, row in zip(result, rows, strict=True) if each.verdict != expected]
    each, row = min(wrong, key=lambda pair: len(str(pair[1])))
    return f"{len(wrong)} of {len(result)}:\n{each}\n{row}"


def line_of(audit: AuditRow) -> str:
    """Releases that do the same."""
    return str(audit.variant).split(";")[0].removeprefix("clients ")


def line_of_newest(audit: AuditRow) -> str:
    return LINES[str(audit.assignor)][0].name


@pytest.mark.drawn(2)
@pytest.mark.parametrize("lives", [LIVES, pytest.param(SOAK_LIVES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", JARS, ids=lambda release: ".".join(map(str, release)))
def test_what_a_releases_own_clients_did_is_the_same(release: Release, lives: int, seed: int) -> None:
    random = Random(seed)
    groups = random_lives(random, list(LEADERS), lives, has_racks=release >= RACKS_SINCE)
    rows = records(groups, lived(groups, JARS[release]))
    result = audited(rows, facts_of(groups))
    assert all(each.verdict == Verdict.SAME for each in result), wrong_rows(result, rows)
    # Members of one release write one version, by which lines are distinguished.
    has_generations = release >= GENERATIONS_SINCE
    for each in result:
        (line,) = [line for line in LINES[str(each.assignor)] if line.name == line_of(each)]
        assert (line.release >= GENERATIONS_SINCE) == has_generations
    # Without snapshots too, but for racks: all partitions are assigned or claimed. Nothing confirms how many there are.
    rackless = {f"g{at}" for at, group in enumerate(groups) if "racks" not in group["topics"][0]}
    rows = [row for row in rows if row["group_id"] in rackless]
    result, unconfirmed = audited(rows, Facts()), Verdict.SAME_UNCONFIRMED
    assert all(each.verdict == unconfirmed for each in result), wrong_rows(result, rows, unconfirmed)


@pytest.fixture(scope="module")
def newest_lives() -> tuple[list[Life], list[Row]]:
    """Of an own seed: each alteration begins with the same lives."""
    seed = int(os.environ.get("GROUPSCOPE_SEED") or secrets.randbelow(2**32))
    sys.stdout.write(f"GROUPSCOPE_SEED={seed}\n")
    groups = random_lives(Random(seed), list(LEADERS), 2 * LIVES)
    return groups, records(groups, lived(groups, JARS[4, 4, 0]))


@pytest.mark.parametrize("alter", ALTERATIONS)
def test_altered_generations_are_detected_and_no_others(
    alter: Any, newest_lives: tuple[list[Life], list[Row]], seed: int
) -> None:
    random = Random(seed)
    groups, originals = newest_lives
    rows, altered = deepcopy(originals), set()
    for at, row in enumerate(rows):
        changed = deepcopy(row["members"])
        # Every fourth, so that most generations before and after are as they were.
        if at % 4 == 0 and alter(random, changed):
            row["members"] = changed
            altered.add(at)
    result = audited(rows, facts_of(groups))
    differ = {at for at, each in enumerate(result) if each.verdict != Verdict.SAME}
    assert differ <= altered
    # By chance what is altered may be what another release does: seen once in some ten thousand.
    assert all(line_of(result[at]) != line_of_newest(result[at]) for at in altered - differ)
    assert len(altered - differ) <= 1
    assert len(altered) > LIVES
    drifts = [result[at] for at in differ if result[at].verdict == Verdict.DRIFT]
    assert drifts
    for each in drifts if alter in (drop, double) else ():
        assert each.differences is not None
        (one,) = each.differences
        assert (one.recorded_member_id is None) == (alter is drop)
