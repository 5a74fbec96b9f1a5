"""Targets of an assignor that runs beside the coordinator: Kafka's own classes gave them for inputs of earlier epochs.
All are recognised, and the inputs named; a partition that somebody altered is a drift."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.replaying.log.partition import COLUMNS
from schemas.words.assignments import Verdict
from tests.builders.groups.offloaded_lives import RELEASE, Assigned, OffloadedGroup, live_offloaded, log_of
from tests.builders.groups.target_log import Tables, audit
from tests.kafka.capture import dump
from tests.kafka.records.dump_log import dumped_records, in_our_words
from tests.kafka.releases import KAFKA_4_3
from tests.make.log import decoded, write
from tests.oracles.assignors.kafka_assignors import newer_java, server_answers
from udfs.audit.checks.results import AuditRow
from udfs.audit.modern_audit import ModernAudit

pytestmark = pytest.mark.broker

GROUPS = 24
TARGETS = 3
SOAK_GROUPS = 1_000
NAMED = re.compile(", inputs of epoch ([0-9]+)$")
KINDS = [("uniform", True), ("uniform", False), ("range", True), ("range", False)]


def offloaded(rng: np.random.Generator, number: int) -> list[OffloadedGroup]:
    groups = [OffloadedGroup(rng, f"g{each}", *KINDS[each % len(KINDS)]) for each in range(number)]
    live_offloaded(groups, TARGETS)
    return groups


def tables_of(groups: Sequence[OffloadedGroup]) -> list[Tables]:
    """From the bytes of the log."""
    return [
        {name: rows.select(COLUMNS[name]) for name, rows in tables.items() if name in COLUMNS}
        for tables in decoded([log_of(group.log).logged() for group in groups])
    ]


def audited(tables: Tables, group: OffloadedGroup) -> list[AuditRow]:
    return ModernAudit(group.facts, {}).take(tables)


def assert_recognised(groups: Sequence[OffloadedGroup]) -> None:
    possible = possible_targets(groups)
    for number, (group, tables) in enumerate(zip(groups, tables_of(groups), strict=True)):
        rows = audited(tables, group)
        assert len(rows) == group.num_targets
        if number % 6 == 0:
            # A run for each operation makes the same.
            assert [row.verdict for row in audit(group.log, group.facts)] == [row.verdict for row in rows]
        for row in rows:
            message = f"{row.group_id} epoch {row.generation_or_epoch}: {row.verdict} {row.reason} {row.differences}"
            assert row.verdict == Verdict.SAME, message
            named = NAMED.search(row.variant or "")
            assert named is None or group.given[row.generation_or_epoch] <= int(named[1]) <= row.generation_or_epoch
        # Of the newest target all inputs are known: the named ones give it, or those of now if none are named.
        giving = {epoch for epoch, target in possible[number] if target == group.recorded}
        assert (int(named[1]) if named else group.epoch) in giving, (group.name, named, group.epoch, giving)


@pytest.mark.parametrize("number", [GROUPS, pytest.param(SOAK_GROUPS, marks=pytest.mark.soak)])
def test_targets_of_earlier_inputs_are_recognised(number: int, rng: np.random.Generator, tmp_path: Path) -> None:
    groups = offloaded(rng, number)
    assert_recognised(groups)
    assert_read_by_kafka(groups, tmp_path)


def assert_read_by_kafka(groups: Sequence[OffloadedGroup], folder: Path) -> None:
    """By the record classes of its release, with the values that were written."""
    written = {}
    for place, group in enumerate(groups):
        log = log_of(group.log)
        write(folder, place, log.logged())
        for batch in log.batches:
            written |= {(place, batch.first + at): one for at, one in enumerate(batch.ops) if one is not None}
    dump(KAFKA_4_3, sorted(folder.glob("*/*.log")), folder / "dump.txt")
    read = {(each.offsets_partition, each.offset): each for each in dumped_records((folder / "dump.txt").read_text())}
    assert read.keys() == written.keys()
    for at, one in written.items():
        value = in_our_words(read[at].value)
        assert (read[at].record_type, in_our_words(read[at].key)) == (one.number, one.key)
        assert (value is None) == (one.value is None)
        # A hash of no topics is 0, the default, which is left out.
        assert value is None or {"metadata_hash": 0, **value}.items() >= one.value.items()


# -- altered

# A member's topics with their partitions.
Lists = list[dict[str, Any]]


def moved(chance: np.random.Generator, lists: Sequence[Lists]) -> bool:
    """A partition goes to another member."""
    giver, taker = chance.permutation(len(lists))[:2].tolist() if len(lists) > 1 else (0, 0)
    if giver == taker or not lists[giver]:
        return False
    topic_id, partition = taken(chance, lists[giver])
    return given(lists[taker], topic_id, partition)


def dropped(chance: np.random.Generator, lists: Sequence[Lists]) -> bool:
    """Nobody gets it."""
    some = [each for each in lists if each]
    if some:
        taken(chance, some[int(chance.integers(len(some)))])
    return bool(some)


def doubled(chance: np.random.Generator, lists: Sequence[Lists]) -> bool:
    """Another member gets it as well."""
    giver, taker = chance.permutation(len(lists))[:2].tolist() if len(lists) > 1 else (0, 0)
    if giver == taker or not lists[giver]:
        return False
    topic = lists[giver][int(chance.integers(len(lists[giver])))]
    return given(lists[taker], topic["topic_id"], int(chance.choice(topic["partitions"])))


def taken(chance: np.random.Generator, lists: Lists) -> tuple[str, int]:
    topic = lists[int(chance.integers(len(lists)))]
    partition = topic["partitions"].pop(int(chance.integers(len(topic["partitions"]))))
    if not topic["partitions"]:
        lists.remove(topic)
    return topic["topic_id"], partition


def given(lists: Lists, topic_id: str, partition: int) -> bool:
    of = next((each for each in lists if each["topic_id"] == topic_id), None)
    if of is None:
        lists.append({"topic_id": topic_id, "partitions": [partition]})
    elif partition in of["partitions"]:
        return False
    else:
        of["partitions"].append(partition)
    return True


ALTERATIONS = (moved, dropped, doubled)


def with_alterations(chance: np.random.Generator, number: int) -> list[OffloadedGroup]:
    """Groups with one altered partition in their newest target, which is then not what any epoch's inputs give."""
    groups = offloaded(chance, 2 * number)
    possible = possible_targets(groups)
    altered = []
    for group, all_ in zip(groups, possible, strict=True):
        rows = group.target_records()
        alter = ALTERATIONS[len(altered) % len(ALTERATIONS)]
        is_altered = alter(chance, [row["topic_partitions"] for row in rows])
        if is_altered and group.recorded not in [target for _, target in all_]:
            altered.append(group)
    assert len(altered) >= number
    return altered[:number]


def possible_targets(groups: Sequence[OffloadedGroup]) -> list[list[tuple[int, Assigned]]]:
    """By group, what its members would have by Kafka's classes: each epoch with what its inputs give, by each Java."""
    specs = [spec for group in groups for _, spec in group.asked]
    javas = [None, newer] if (newer := newer_java()) is not None else [None]
    answers = [iter(server_answers(specs, RELEASE, java)) for java in javas]
    return [
        [(epoch, group.assigned_by(spec, next(of_java))) for epoch, spec in group.asked for of_java in answers]
        for group in groups
    ]


@pytest.mark.parametrize("number", [GROUPS // 2, pytest.param(SOAK_GROUPS, marks=pytest.mark.soak)])
def test_a_partition_that_somebody_altered_is_a_drift(number: int, rng: np.random.Generator) -> None:
    groups = with_alterations(rng, number)
    for group, tables in zip(groups, tables_of(groups), strict=True):
        *earlier, row = audited(tables, group)
        assert {each.verdict for each in earlier} == {Verdict.SAME}
        assert row.verdict == Verdict.DRIFT, (row.group_id, row.generation_or_epoch, row.verdict, row.reason)
