"""Target assignments that real brokers wrote come out as their own assignors gave them; altered ones do not."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from schemas.words.assignments import PartitionCountsSource, Verdict
from schemas.words.records import GroupType
from tests.kafka.audits.recomputed import Tables, facts_of, partitions_of
from tests.kafka.observations import observations_of
from tests.kafka.releases import NEWEST, RELEASES
from udfs.audit.checks.facts import Facts
from udfs.audit.modern_audit import ModernAudit

pytestmark = pytest.mark.broker

MODERN = (NEWEST.name, "3.9.1-new")
TARGETS = "target_assignment_members"
SOURCES = {NEWEST.name: PartitionCountsSource.METADATA_HASH, "3.9.1-new": PartitionCountsSource.RECORD}
# Of the conversion online: its copy of the classic group's assignment.
CARRIED = {"converted-online", "seen-converted"}
LATER = 1 << 61

Log = tuple[list[Tables], Facts]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    read = {}

    def of(log_dir):
        if log_dir not in read:
            read[log_dir] = list(partitions_of(log_dir, tmp_path_factory.mktemp("warehouse") / "w"))
        return read[log_dir]

    return of


def audited(partitions, facts):
    return [row for tables in partitions for row in taken(tables, facts)]


def taken(tables, facts):
    audit = ModernAudit(facts, {})
    return audit.take(tables)


def assert_reproduced(rows, release):
    """Returns how many rows there are of each kind of group and algorithm."""
    for row in rows:
        message = f"{row.group_id} at {row.assignment_offset}: {row.verdict}, {row.reason}, {row.differences}"
        if row.group_type == GroupType.STREAMS:
            assert row.verdict == Verdict.NOT_RECOMPUTABLE, message
            assert row.num_owned_twice == 0, message
            continue
        is_copy = row.verdict == Verdict.CARRIED_OVER and row.group_id in CARRIED
        assert is_copy or row.verdict == Verdict.SAME, message
        assert is_copy or row.partition_counts_source == SOURCES[release], message
        assert (row.num_owned_twice, row.num_nonexistent, row.num_unowned) == (0, 0, 0), message
        assert [check for check in row.checks if check.is_ok is False] == [], message
    return Counter(f"{row.group_type} {row.assignor} {row.algorithm}" for row in rows)


@pytest.mark.parametrize("capture", MODERN, indirect=True)
def test_every_target_of_a_captured_broker_is_what_its_assignor_gives(capture, logs):
    result = assert_reproduced(audited(logs(capture.log_dir), facts_of(capture.answers["topics"])), capture.release)
    assert result["consumer uniform homogeneous"] >= 6
    assert result["consumer range homogeneous"] >= 2
    if capture.release == NEWEST.name:
        assert result["share simple homogeneous"] >= 4
        assert result["consumer uniform heterogeneous"] >= 2


@pytest.mark.parametrize("name", MODERN)
def test_every_target_of_an_observed_broker_is_what_its_assignor_gives(name, logs):
    observations = observations_of(RELEASES[name])
    facts = facts_of(observations.of_kind("topic"))
    assert assert_reproduced(audited(logs(observations.log_dir), facts), name)["consumer uniform homogeneous"] >= 8


@pytest.mark.parametrize("capture", MODERN, indirect=True)
def test_a_snapshot_from_after_the_log_serves_as_well(capture, logs):
    facts = facts_of(capture.answers["topics"], LATER)
    assert assert_reproduced(audited(logs(capture.log_dir), facts), capture.release)


@pytest.mark.parametrize("capture", MODERN, indirect=True)
def test_without_any_snapshot_nothing_seems_to_drift(capture, logs):
    for row in audited(logs(capture.log_dir), Facts()):
        # Racks are part of the hash, so that it may not match without them.
        known = (Verdict.SAME, Verdict.SAME_UNCONFIRMED, Verdict.CARRIED_OVER)
        assert row.verdict in known or row.group_type == GroupType.STREAMS, row


@pytest.mark.parametrize("capture", MODERN, indirect=True)
def test_in_a_compacted_log_nothing_seems_to_drift(capture, logs):
    rows = audited(logs(capture.compacted.log_dir), facts_of(capture.answers["topics"]))
    assert rows
    known = {Verdict.SAME, Verdict.SAME_UNCONFIRMED, Verdict.CARRIED_OVER, Verdict.NOT_RECOMPUTABLE}
    assert {row.verdict for row in rows} <= known


# -- altered by hand: lists of topics with their partitions, of the members that the epoch wrote

Lists = list[dict[str, Any]]


def moved(lists):
    """The last partition of one goes to another."""
    giver = next((each for each in lists if any(of["partitions"] for of in each)), None)
    taker = next((each for each in lists if each is not giver), None)
    if giver is None or taker is None:
        return False
    topic = next(of for of in giver if of["partitions"])
    partition = topic["partitions"].pop()
    of_taker = next((of for of in taker if of["topic_id"] == topic["topic_id"]), None)
    if of_taker is None:
        taker.append({"topic_id": topic["topic_id"], "partitions": [partition]})
    elif partition in of_taker["partitions"]:
        return False
    else:
        of_taker["partitions"].append(partition)
    return True


def swapped(lists):
    for first, one in enumerate(lists):
        for other in lists[first + 1 :]:
            if as_sets(one) != as_sets(other):
                one[:], other[:] = other[:], one[:]
                return True
    return False


def dropped(lists):
    topics = [of for each in lists for of in each if of["partitions"]]
    if topics:
        topics[0]["partitions"].pop(0)
    return bool(topics)


def doubled(lists):
    """One member gets what another one has and keeps."""
    giver = next((each for each in lists if any(of["partitions"] for of in each)), None)
    taker = next((each for each in lists if each is not giver), None)
    if giver is None or taker is None or as_sets(giver) <= as_sets(taker):
        return False
    topic_id, partition = min(as_sets(giver) - as_sets(taker))
    taker.append({"topic_id": topic_id, "partitions": [partition]})
    return True


def as_sets(each):
    return {(of["topic_id"], partition) for of in each for partition in of["partitions"]}


def altered(tables, row, alter):
    """The targets that stand in a row before the row's record; None: there is nothing to alter like this."""
    rows = tables[TARGETS].to_pylist()
    completions = tables["target_assignment_metadata"].to_pylist()
    before = max((each["record_offset"] for each in completions if each["record_offset"] < row.assignment_offset
                  and each["group_id"] == row.group_id), default=-1)  # fmt: skip
    first = max(before, row.evidence_first_offset - 1)
    lists = [
        each["topic_partitions"]
        for each in rows
        if each["group_id"] == row.group_id and first < each["record_offset"] < row.assignment_offset
        and not each["is_tombstone"]
    ]  # fmt: skip
    if not alter(lists):
        return None
    return {**tables, TARGETS: pa.Table.from_pylist(rows, tables[TARGETS].schema)}


def last_targets(rows):
    """What comes behind an altered target is computed from it, and may differ for that."""
    newest = {row.group_id: row for row in rows if row.verdict == Verdict.SAME}
    of_groups = {row.group_id: row for row in rows}
    yield from (row for group_id, row in newest.items() if of_groups[group_id] is row)


@pytest.mark.parametrize("alter", [moved, swapped, dropped, doubled])
@pytest.mark.parametrize("capture", MODERN, indirect=True)
def test_every_alteration_is_detected_and_nothing_else_is(capture, logs, alter):
    facts = facts_of(capture.answers["topics"])
    result = 0
    for tables in logs(capture.log_dir):
        rows = taken(tables, facts)
        for row in last_targets(rows):
            changed = altered(tables, row, alter)
            if changed is None:
                continue
            result += 1
            reported = {each.assignment_offset: each.verdict for each in taken(changed, facts)}
            expected = {each.assignment_offset: each.verdict for each in rows}
            assert reported == expected | {row.assignment_offset: Verdict.DRIFT}, row
    assert result >= 2
