"""Logs of consumer and share groups, written record by record, as the decoded tables that an audit reads.

log = TargetLog()
log.write(0, about("a", ["orders"]), epoch(1), listed(orders=6), target("a", orders=range(6)), completed(1))
audit(log)[0].verdict
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pyarrow as pa

from jobs.replaying.log.partition import COLUMNS, GROUP_TABLES
from schemas.tables import SUBJECTS
from tests.builders.groups.stored_states import restored, texts_of
from udfs.arrays.arrow_schema import table_schema
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import AuditRow, judged
from udfs.audit.modern_audit import ModernAudit
from udfs.topics.ids import topic_id_of
from udfs.topics.metadata_hash import group_hash
from udfs.topics.partition_codes import TopicCodes

GROUP = "g"
LATER_MS = 10**15
SCHEMAS = {table.name: table_schema(table) for table in SUBJECTS["decoded"]}
# Table and columns.
Written = tuple[str, dict[str, Any]]
Tables = dict[str, pa.Table]


def topic_id(name: str) -> str:
    raw = sha256(name.encode()).digest()
    return topic_id_of(
        int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:16], "big", signed=True)
    )  # fmt: skip


class TargetLog:
    def __init__(self, group: str = GROUP, group_type: str = "consumer") -> None:
        self.group, self.group_type = group, group_type
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUP_TABLES}
        self.offset = 0

    def write(self, time_ms: int, *written: Written, group: str | None = None) -> None:
        """One operation."""
        batch = self.offset
        for table, columns in written:
            about_record = {
                "record_offset": self.offset,
                "record_time": time_ms * 1000,
                "batch_first_offset": batch,
                "partition_leader_epoch": 0,
                "group_id": group or self.group,
                "is_tombstone": False,
            }
            if "group_type" in SCHEMAS[table].names:
                about_record["group_type"] = self.group_type
            self.rows[table].append(about_record | columns)
            self.offset += 1

    @property
    def tables(self) -> Tables:
        return self.until(self.offset)

    def until(self, end: int, first: int = 0) -> Tables:
        """Records of these offsets alone."""
        return {
            name: arrow([row for row in rows if first <= row["record_offset"] < end], name)
            for name, rows in self.rows.items()
        }

    @property
    def ends(self) -> list[int]:
        """Where operations end."""
        batches = {row["batch_first_offset"] for rows in self.rows.values() for row in rows}
        return [*sorted(batches - {0}), self.offset]


def arrow(rows: Sequence[Mapping[str, Any]], name: str) -> pa.Table:
    schema = pa.schema([SCHEMAS[name].field(column) for column in COLUMNS[name]])
    return pa.Table.from_pylist([{column: row.get(column) for column in schema.names} for row in rows], schema)


def about(member: str, topics: Sequence[str] = (), **columns: Any) -> Written:
    reported = {"member_id": member, "client_id": member, "client_host": "/127.0.0.1", **columns}
    return "group_member_metadata", {"subscribed_topic_names": sorted(topics), **reported}


def classic_about(member: str, topics: Sequence[str] = (), **columns: Any) -> Written:
    classic = {"session_timeout_ms": 45_000, "supported_protocols": [{"name": "range", "metadata": b""}]}
    return about(member, topics, classic_member=classic, **columns)


def epoch(number: int, metadata_hash: int | None = None) -> Written:
    return "group_metadata", {"group_epoch": number, "metadata_hash": metadata_hash}


def listed(**counts: int) -> Written:
    """Type 4, before 4.1."""
    topics = [
        {"state": "subscribed", "topic_id": topic_id(name), "topic_name": name, "num_partitions": count}
        for name, count in counts.items()
    ]
    return "group_partition_metadata", {"topics": topics}


def target(member: str, **partitions: Iterable[int]) -> Written:
    return "target_assignment_members", {"member_id": member, "topic_partitions": of_ids(partitions)}


def of_ids(partitions: Mapping[str, Iterable[int]]) -> list[dict[str, Any]]:
    return [{"topic_id": topic_id(name), "partitions": list(of)} for name, of in partitions.items()]


def completed(number: int) -> Written:
    return "target_assignment_metadata", {"assignment_epoch": number}


def owns(member: str, number: int, pending: Mapping[str, Iterable[int]] | None = None, state: str = "STABLE",
         **partitions: Iterable[int]) -> Written:  # fmt: skip
    return "current_member_assignments", {
        "member_id": member,
        "member_epoch": number,
        "previous_member_epoch": number - 1,
        "member_state": state,
        "assigned_partitions": of_ids(partitions),
        "partitions_pending_revocation": of_ids(pending or {}),
    }


def pattern(regex: str, topics: Sequence[str]) -> Written:
    return "group_regular_expressions", {"regular_expression": regex, "topics": list(topics)}


def dead(table: str, member: str | None = None) -> Written:
    key = {} if member is None else {"member_id": member}
    return table, {"is_tombstone": True, **key}


def left(member: str) -> list[Written]:
    """Tombstones of types 8, 7 and 5."""
    tables = ("current_member_assignments", "target_assignment_members", "group_member_metadata")
    return [dead(table, member) for table in tables]


def known(time_ms: int = 0, last_ms: int = LATER_MS, **counts: int) -> Facts:
    """Snapshots of a cluster without racks; the last one is after any record."""
    time, last = time_ms * 1000, last_ms * 1000
    return Facts({
        name: [KnownTopic(Topic(name, count, topic_id(name), ((),) * count), time, last)]
        for name, count in counts.items()
    }, default_assignor="uniform")  # fmt: skip


def audit_once(log: TargetLog, facts: Facts, end: int | None = None) -> list[AuditRow]:
    result = ModernAudit(facts, {})
    return result.take(log.tables if end is None else log.until(end))


def audit(log: TargetLog, facts: Facts | None = None) -> list[AuditRow]:
    """In one run; and the same comes of a run for each operation, if a run that overturns earlier rows makes all of
    them anew."""
    facts = facts or Facts(default_assignor="uniform")
    whole = ModernAudit(facts, {})
    rows = whole.take(log.tables)
    states: dict[str, str] = {}
    pieces: list[AuditRow] = []
    first = 0
    for end in log.ends:
        codes = TopicCodes(facts.names)
        run = ModernAudit(facts, restored("modern", states, codes), codes)
        new = run.unjudged(log.until(end, first))
        if run.is_overturned:
            pieces = audit_once(log, facts, end)
        else:
            pieces += map(judged, new)
        states = {group_id: text for group_id, text in states.items() if group_id not in run.groups}
        states |= texts_of("modern", run.states(), codes)
        first = end
    assert pieces == rows
    assert states == texts_of("modern", whole.states(), whole.codes)
    return rows


ORDERS = ["orders"]
# Hashes of these counts, without racks.
TWO = group_hash([Topic("orders", 2, topic_id("orders"))])
SIX = group_hash([Topic("orders", 6, topic_id("orders"))])


def joined_twice(metadata_hash: int | None = SIX) -> TargetLog:
    """`a` alone with six partitions, then `b`: `a` keeps its first three (assignors.md, uniform)."""
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1, metadata_hash), target("a", orders=range(6)), completed(1))
    log.write(
        1000, about("b", ORDERS), epoch(2, metadata_hash), target("a", orders=[0, 1, 2]),
        target("b", orders=[3, 4, 5]), completed(2),
    )  # fmt: skip
    return log


def verdicts(rows: Sequence[AuditRow]) -> list[str]:
    return [str(row.verdict) for row in rows]


def with_targets(a: list[int], b: list[int]) -> TargetLog:
    log = joined_twice()
    first, second = log.rows["target_assignment_members"][1:]
    first["topic_partitions"][0]["partitions"], second["topic_partitions"][0]["partitions"] = a, b
    return log
