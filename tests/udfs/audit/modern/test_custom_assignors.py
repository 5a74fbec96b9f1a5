"""A name proves no class: what a group's own targets and the brokers' setting say about who bears Kafka's name."""

from dataclasses import replace

import pytest

from schemas.words.assignments import AssignorSource, Verdict
from schemas.words.history import Confidence
from tests.builders.groups.target_log import (
    ORDERS,
    SIX,
    TargetLog,
    about,
    audit,
    completed,
    dead,
    epoch,
    known,
    left,
    target,
    verdicts,
)
from udfs.audit.checks.facts import Facts

FACTS = known(orders=6)
LISTED = replace(FACTS, custom_listed=frozenset({"consumer"}))
# Of two members with six partitions: what Kafka's uniform leaves them with, and what it gives to nobody.
KEPT = {"a": [0, 1, 2], "b": [3, 4, 5]}
SWAPPED = {"a": [3, 4, 5], "b": [0, 1, 2]}
ODD = {"a": [0, 2, 4], "b": [1, 3, 5]}
CUSTOM = (Verdict.NOT_RECOMPUTABLE, "custom_assignor")


def lived(*of_pairs: dict[str, list[int]], log: TargetLog | None = None) -> TargetLog:
    """`a` alone has everything, by whatever assignor; then with `b`, who leaves after each of these targets."""
    log = log or TargetLog()
    number = 1
    log.write(0, about("a", ORDERS), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    for of in of_pairs:
        number += 1
        log.write(number, about("b", ORDERS), epoch(number, SIX), target("a", orders=of["a"]),
                  target("b", orders=of["b"]), completed(number))  # fmt: skip
        number += 1
        log.write(number, *left("b"), epoch(number, SIX))
        number += 1
        log.write(number, about("a", ORDERS, rack_id=f"r{number}"), epoch(number, SIX), target("a", orders=range(6)),
                  completed(number))  # fmt: skip
    return log


def shared(log: TargetLog, facts: Facts = FACTS) -> list[tuple[str, str | None, Confidence]]:
    """Of the targets of both members."""
    return [(row.verdict, row.reason, row.confidence) for row in audit(log, facts)[1::2]]


def test_three_targets_that_differ_while_none_is_equal_are_of_another_class() -> None:
    rows = audit(lived(SWAPPED, ODD, SWAPPED), FACTS)
    assert verdicts(rows[::2]) == ["same"] * 4
    for row in rows[1::2]:
        assert (row.verdict, row.reason) == CUSTOM
        assert (row.assignor, row.num_different, row.differences, row.variant) == ("uniform", None, None, None)
        assert (row.num_partitions, row.imbalance) == (6, 0)


@pytest.mark.parametrize("number", [1, 2])
def test_fewer_are_a_drift_that_is_less_certain(number: int) -> None:
    rows = shared(lived(*[SWAPPED] * number))
    assert {(verdict, confidence) for verdict, _, confidence in rows} == {(Verdict.DRIFT, Confidence.LIKELY)}


@pytest.mark.parametrize("place", range(4))
def test_one_that_is_equal_makes_all_others_a_drift(place: int) -> None:
    """Wherever it stands."""
    of_pairs = [SWAPPED] * 4
    of_pairs[place] = KEPT
    expected = [(Verdict.DRIFT, Confidence.CERTAIN)] * 4
    expected[place] = (Verdict.SAME, Confidence.CERTAIN)
    assert [(verdict, confidence) for verdict, _, confidence in shared(lived(*of_pairs))] == expected


def test_a_target_that_changes_nothing_shows_nothing() -> None:
    """Any assignor that keeps what it can gives the same."""
    log = lived()
    log.write(1, about("b", ORDERS), epoch(2, SIX), target("a", orders=SWAPPED["a"]), target("b", orders=SWAPPED["b"]),
              completed(2))  # fmt: skip
    for number in range(3, 9):
        swap = SWAPPED if number % 2 == 0 else ODD
        changed = [] if number % 3 else [target(each, orders=of) for each, of in swap.items()]
        log.write(number, about("a", ORDERS, rack_id=f"r{number}"), epoch(number, SIX), *changed, completed(number))
    rows = audit(log, FACTS)
    assert verdicts(rows) == ["same", "not_recomputable", "not_recomputable", "same", "same", "not_recomputable",
                              "same", "same"]  # fmt: skip


def test_a_group_that_was_deleted_begins_anew() -> None:
    log = lived(SWAPPED, SWAPPED)
    log.write(90, *left("a"), dead("target_assignment_metadata"), dead("group_metadata"))
    rows = shared(lived(SWAPPED, SWAPPED, log=log))
    assert {verdict for verdict, _, _ in rows} == {Verdict.DRIFT, Verdict.SAME}


def test_each_name_is_tried_for_itself() -> None:
    """`range` gives what it should; who bears the name `uniform` is no matter of that."""
    log = lived(SWAPPED, ODD, SWAPPED)
    for number, of in enumerate((KEPT, SWAPPED), 11):
        asked = [about(each, ORDERS, server_assignor="range", rack_id=f"r{number}") for each in "ab"]
        log.write(number, *asked, epoch(number, SIX), *(target(each, orders=at) for each, at in of.items()),
                  completed(number))  # fmt: skip
    rows = audit(log, FACTS)
    assert [(row.assignor, row.verdict) for row in rows[-2:]] == [("range", "same"), ("range", "drift")]
    assert {row.verdict for row in rows[1:-2:2]} == {Verdict.NOT_RECOMPUTABLE}


def test_a_class_that_is_not_kafkas_in_the_setting_makes_a_drift_less_certain() -> None:
    mixed = lived(KEPT, SWAPPED)
    assert shared(mixed, LISTED) == [
        (Verdict.SAME, None, Confidence.CERTAIN),
        (Verdict.DRIFT, "6 partitions have other owners than uniform gives", Confidence.LIKELY),
    ]
    (alone,) = shared(lived(SWAPPED), LISTED)
    assert (alone[0], alone[2]) == (Verdict.DRIFT, Confidence.POSSIBLE)
    of_share = replace(FACTS, custom_listed=frozenset({"share"}))
    assert shared(mixed, of_share)[1][2] == Confidence.CERTAIN


def test_a_class_that_is_not_kafkas_as_the_default_explains_every_difference() -> None:
    """Of the name that it says of itself nothing is known."""
    facts = replace(LISTED, default_assignor=None, custom_default=frozenset({"consumer"}))
    row = audit(lived(SWAPPED), facts)[1]
    assert (row.verdict, row.reason) == CUSTOM
    assert (row.assignor, row.assignor_source) == (None, None)
    rows = audit(lived(KEPT, SWAPPED), facts)
    assert [(row.verdict, row.assignor_source, row.confidence) for row in rows[1::2]] == [
        (Verdict.SAME, AssignorSource.INFERRED, Confidence.LIKELY),
        (Verdict.DRIFT, AssignorSource.INFERRED, Confidence.POSSIBLE),
    ]


def test_members_that_ask_for_kafkas_name_do_not_get_the_default() -> None:
    facts = replace(LISTED, default_assignor=None, custom_default=frozenset({"consumer"}))
    log = TargetLog()
    asked = [about(each, ORDERS, server_assignor="uniform") for each in "ab"]
    log.write(0, asked[0], epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, asked[1], epoch(2, SIX), target("a", orders=[3, 4, 5]), target("b", orders=[0, 1, 2]),
              completed(2))  # fmt: skip
    row = audit(log, facts)[-1]
    assert (row.verdict, row.assignor_source, row.confidence) == (Verdict.DRIFT, "votes", Confidence.POSSIBLE)
