"""Generations that real brokers recorded come out the same; altered ones do not, and nothing else changes."""

from copy import deepcopy
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from jobs.replaying.log.partition import COLUMNS, GROUP_TABLES
from schemas.words.assignments import Verdict
from tests.builders.groups.altered_generations import ALTERATIONS
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.releases import NEWEST, RELEASES
from udfs.assignors.questions import LEADERS, Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.classic_audit import TABLE, ClassicAudit

pytestmark = pytest.mark.broker

Row = dict[str, Any]
Log = dict[str, list[Row]]
CAPTURED: Final = tuple(RELEASES)
# Snapshots before and after everything, which agree.
BEFORE, AFTER = 0, 1 << 62


def logs(capture, warehouse):
    """Of each offsets partition."""
    command(warehouse, "ingest", "--source", f"segments:{capture.log_dir}")
    tables = {name: DeltaTable(warehouse / name).to_pyarrow_table() for name in GROUP_TABLES}
    partitions = sorted({each for rows in tables.values() for each in rows["offsets_partition"].to_pylist()})
    order = [("record_offset", "ascending")]
    return [
        {
            name: [row for row in rows.sort_by(order).to_pylist() if row["offsets_partition"] == partition]
            for name, rows in tables.items()
        }
        for partition in partitions
    ]


def facts_of(capture):
    return Facts(
        topics={
            row["topic"]: [KnownTopic(Topic(row["topic"], row["num_partitions"], row["topic_id"]), BEFORE, AFTER)]
            for row in capture.answers["topics"]
        },
        whole_times=(BEFORE, AFTER),
    )


def audited(log, schemas, facts):
    tables = {name: pa.Table.from_pylist(rows, schemas[name]).select(COLUMNS[name]) for name, rows in log.items()}
    return ClassicAudit(facts, {}).take(tables)


def schemas_of(warehouse):
    return {name: DeltaTable(warehouse / name).to_pyarrow_table().schema for name in GROUP_TABLES}


@pytest.mark.parametrize("is_compacted", [False, True], ids=["full", "compacted"])
@pytest.mark.parametrize("capture", CAPTURED, indirect=True)
def test_what_real_brokers_recorded_is_the_same(capture, is_compacted, tmp_path):
    capture = capture.compacted if is_compacted else capture
    result = [
        each
        for log in logs(capture, tmp_path / "w")
        for each in audited(log, schemas_of(tmp_path / "w"), facts_of(capture))
    ]
    known = [each for each in result if each.assignor in LEADERS]
    wrong = [each for each in known if each.verdict not in (Verdict.SAME, Verdict.CARRIED_OVER)]
    assert wrong == []
    assert {each.known_defect for each in result} == {None}
    # Static members came back, groups changed their protocol, all of Kafka's assignors were in use.
    assert is_compacted or {each.assignor for each in known if each.verdict == Verdict.SAME} == set(LEADERS)
    assert is_compacted or any(each.verdict == Verdict.CARRIED_OVER for each in known)
    others = {each.assignor for each in result} - set(LEADERS)
    assert is_compacted or others == ({"stream", "sessioned"} if capture.release == NEWEST.name else set())
    assert all(each.verdict == Verdict.NOT_RECOMPUTABLE and each.reason for each in result if each.assignor in others)


@pytest.mark.parametrize("alter", ALTERATIONS)
@pytest.mark.parametrize("capture", [NEWEST.name], indirect=True)
def test_altered_records_are_detected_and_no_others(capture, alter, tmp_path, seed):
    random, facts, num_altered = Random(seed), facts_of(capture), 0
    for log in logs(capture, tmp_path / "w"):
        schemas = schemas_of(tmp_path / "w")
        before = {each.assignment_offset: each.verdict for each in audited(log, schemas, facts)}
        for at, row in enumerate(log[TABLE]):
            if before.get(row["record_offset"]) != Verdict.SAME:
                continue
            changed = deepcopy(log[TABLE])
            if alter(random, changed[at]["members"]):
                rows = audited(log | {TABLE: changed}, schemas, facts)
                differing = [each for each in rows if each.verdict != before[each.assignment_offset]]
                # A value that repeats this one for a static member that came back repeats it no more.
                assert differing[0].assignment_offset == row["record_offset"]
                assert all(before[each.assignment_offset] == Verdict.CARRIED_OVER for each in differing[1:])
                num_altered += 1
    # How many depends on how the capture's groups came together: those of one member have nobody to give to.
    assert num_altered > 0
