"""Findings about a time before the newest data: they say what history says of that time, whatever came later."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.configuration.settings import Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import parameters
from jobs.queries.engines.duckdb_engine import scope_of
from tests.make.tables import NOW, make

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
THEN = NOW - 40 * DAY
LONG_BEFORE = THEN - 40 * DAY
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
KINDS = ("dead_group", "partitions_unowned", "group_rule_broken", "hanging_transaction", "unnamed_topics")
# Intervals that hold then and end later, those that begin later, and those that had ended.
HELD = {"from_time": LONG_BEFORE, "to_time": THEN + DAY, "to_offset": 9, "is_to_exact": True}
LATER = {"from_time": THEN + DAY, "from_offset": 9, "to_offset": None, "is_open": True}
ENDED = {"from_time": LONG_BEFORE, "to_time": THEN, "to_offset": 9, "is_to_exact": True}
KNOWN = {"history_coverage": [{"from_time": LONG_BEFORE, "to_time": NOW, "last_offset": 99}]}
STABLE = {"state": "Stable", "num_members": 2}
EMPTY = {"state": "Empty", "num_members": 0}
AUDITED = {"verdict": "same", "record_time": LONG_BEFORE, "confidence": "certain"}
BROKEN = {"name": "redundant", "is_ok": False, "detail": "t-0: 2 members must own each, 1 does"}
COMMITTED = {"topic": "t", "committed_offset": 5, "commit_time": LONG_BEFORE, "last_commit_time": LONG_BEFORE}
OPEN = {"producer_id": 7, "first_offset": 5, "evidence_last_offset": 8, "first_time": THEN - 90 * MINUTE}
TRANSACTED = {"is_transactional": True, "producer_id": 7, "record_offset": 5, "record_time": THEN - 90 * MINUTE}


def found(folder: Path, tables: Tables) -> list[tuple[str, str, str]]:
    """Kind, group and confidence of each finding of these kinds as of then."""
    filled, events = parameters("a", THEN, NOW, Settings()), Events(None, THEN)
    warehouse = make(folder, {**KNOWN, **tables})
    rows = []
    for file in (file for file in finding_files() if file.kind.value in KINDS):
        with scope_of(warehouse, [statement := file.rows(filled, events)]) as answer:
            names, listed = answer(statement)
            each = [dict(zip(names, row, strict=True)) for row in listed]
        rows += [(file.kind.value, row["group_id"], row["confidence"]) for row in each]
    return rows


def unowned(state: Mapping[str, Any], **changed: Sequence[Mapping[str, Any]]) -> Tables:
    return {"assignment_audit": [{**AUDITED, "num_unowned": 2}], "group_state_intervals": [state], **changed}


def grown(**changed: Sequence[Mapping[str, Any]]) -> Tables:
    """Snapshots before then show two partitions that the topic got after the group's assignment."""
    seen = [(2, 2_000), (4, 60), (4, 1)]
    rows: dict[str, Sequence[Mapping[str, Any]]] = {
        "assignment_audit": [{**AUDITED, "num_unowned": 0, "num_partitions": 2}],
        "group_state_intervals": [{**STABLE, **HELD}],
        "generation_members": [{"change": "kept", "subscribed_topics": ["t"], "assigned": []}],
        "ownership_intervals": [{**HELD, "topic": "t", "partition": place, "group_type": "classic"}
                                for place in range(2)],
        "topic_snapshots": [{"topic": "t", "partition": place, "captured_time": THEN - minutes * MINUTE}
                            for number, minutes in seen for place in range(number)],
        "topics": [{"topic": "t", "from_time": LONG_BEFORE, "to_time": NOW}],
    }  # fmt: skip
    return {**rows, **changed}


def broken(state: Mapping[str, Any], *later: Mapping[str, Any]) -> Tables:
    return {"assignment_audit": [{**AUDITED, "checks": [BROKEN], "partition_counts_source": "record"}, *later],
            "group_state_intervals": [state]}  # fmt: skip


def dead(state: Mapping[str, Any], **changed: Any) -> Tables:
    return {"group_state_intervals": [state], "offset_history": [{**COMMITTED, **HELD, **changed}]}


def transaction(**changed: Any) -> Tables:
    return {"transactions": [{**OPEN, "outcome": "committed", "end_time": THEN + MINUTE, "groups": ["a"], **changed}],
            "offset_commits": [TRANSACTED]}  # fmt: skip


@pytest.mark.parametrize(("kind", "tables"), [
    ("partitions_unowned", unowned({**STABLE, **HELD})),
    # A later assignment leaves none without an owner.
    ("partitions_unowned", unowned({**STABLE, **HELD}, assignment_audit=[
        {**AUDITED, "num_unowned": 2}, {**AUDITED, "num_unowned": 0, "assignment_offset": 9, "record_time": THEN + DAY}
    ])),
    ("partitions_unowned", grown()),
    # What members and owners came later.
    ("partitions_unowned", grown(
        generation_members=[{"change": "kept", "subscribed_topics": ["t"], "assigned": []},
                            {"change": "kept", "subscribed_topics": [], "assigned": [], "assignment_offset": 9}],
        ownership_intervals=[*grown()["ownership_intervals"],
                             *({**LATER, "topic": "t", "partition": place, "group_type": "classic"}
                               for place in range(4))],
        offset_history=[{**COMMITTED, **LATER, "partition": 7}],
    )),
    ("group_rule_broken", broken({**STABLE, **HELD})),
    ("group_rule_broken", broken({**STABLE, **HELD},
                                 {**AUDITED, "checks": [], "assignment_offset": 9, "record_time": THEN + DAY})),
    ("dead_group", dead({**EMPTY, **HELD})),
    ("hanging_transaction", transaction()),
    ("unnamed_topics", {"ownership_intervals": [{**HELD, "topic": None, "topic_id": "x"}]}),
])  # fmt: skip
def test_what_was_so_then_is_found_though_it_has_ended(tmp_path: Path, kind: str, tables: Tables) -> None:
    of_kind = [(group, confidence) for each, group, confidence in found(tmp_path, tables) if each == kind]
    assert len(of_kind) == 1 and of_kind[0][0] == "a"


@pytest.mark.parametrize("tables", [
    unowned({**STABLE, **LATER}),
    unowned({**STABLE, **ENDED}),
    unowned({**STABLE, **HELD}, assignment_audit=[{**AUDITED, "num_unowned": 2, "record_time": THEN + DAY}]),
    grown(ownership_intervals=[{**HELD, "topic": "t", "partition": place, "group_type": "classic"}
                               for place in range(4)]),
    grown(topics=[{"topic": "t", "from_time": LONG_BEFORE, "to_time": THEN}]),
    grown(topics=[{"topic": "t", "from_time": THEN + DAY, "to_time": None}]),
    grown(offset_history=[{**COMMITTED, **HELD, "partition": 4}]),
    broken({**STABLE, **LATER}),
    broken({**STABLE, **ENDED}),
    dead({**EMPTY, **LATER}),
    dead({**EMPTY, **ENDED}),
    # Equal commits are one row, so nothing says which of them were made by then.
    dead({**EMPTY, **HELD}, last_commit_time=THEN + MINUTE),
    # The only offset was committed later.
    dead({**EMPTY, **HELD}, **LATER),
    transaction(end_time=THEN),
    transaction(end_time=THEN - MINUTE),
    transaction(first_time=THEN - 59 * MINUTE),
    # Its producer's next transaction is for another group.
    {**transaction(end_time=THEN - MINUTE), "offset_commits": [TRANSACTED, {**TRANSACTED, "record_offset": 9}]},
    {"ownership_intervals": [{**LATER, "topic": None, "topic_id": "x"}]},
    {"ownership_intervals": [{**ENDED, "topic": None, "topic_id": "x"}]},
])  # fmt: skip
def test_what_began_later_or_had_ended_is_no_finding(tmp_path: Path, tables: Tables) -> None:
    assert found(tmp_path, tables) == []


def test_groups_wait_for_what_the_transaction_had_committed_by_then(tmp_path: Path) -> None:
    commits = [
        {**TRANSACTED, "group_id": "waits"},
        {**TRANSACTED, "group_id": "waits later", "record_offset": 7, "record_time": THEN + MINUTE},
        {**TRANSACTED, "group_id": "next", "record_offset": 9},
    ]
    tables = {**transaction(), "offset_commits": commits}
    assert [group for _, group, _ in found(tmp_path, tables)] == ["waits"]


@pytest.mark.parametrize("of_state", [
    unowned, broken, dead, lambda state: grown(group_state_intervals=[state])
])  # fmt: skip
def test_what_may_have_ended_earlier_is_likely_at_most(tmp_path: Path, of_state: Any) -> None:
    state = {**(EMPTY if of_state is dead else STABLE), **HELD, "confidence": "certain"}
    for is_exact, expected in ((True, "certain"), (False, "likely")):
        (found_one,) = found(tmp_path / expected, of_state({**state, "is_to_exact": is_exact}))
        assert found_one[2] == expected


def test_an_offset_that_may_have_ended_earlier_makes_a_dead_group_likely_at_most(tmp_path: Path) -> None:
    tables = dead({**EMPTY, **HELD, "confidence": "certain"}, is_to_exact=False)
    assert found(tmp_path, tables) == [("dead_group", "a", "likely")]
