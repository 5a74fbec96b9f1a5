"""The audit of consumer, share and streams groups: compares every target assignment with what Kafka's assignor
gives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from schemas.records.registry import GROUP_TYPES
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import AuditRow, Latest, Trial
from udfs.audit.checks.rows import audit_row, judged
from udfs.audit.defects.upgrade_defects import with_upgrade_defects
from udfs.audit.modern.group import COMPLETIONS, ModernGroup, follow
from udfs.audit.modern.questions import latest_of_group
from udfs.audit.modern.rows import TargetResult
from udfs.audit.modern_targets import target_result
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

CLASSIC_TABLE = "classic_group_metadata"
# Tasks of streams groups cannot be recomputed, so their topologies are not needed.
TOPOLOGIES_TABLE = "streams_group_topologies"


@dataclass(frozen=True)
class ConvertedGroup:
    """A classic group with members ended in this operation: the first state of the consumer group is copied from it."""

    batch: int
    time: int | None


class ModernAudit:
    def __init__(self, facts: Facts, states: Mapping[str, ModernGroup], codes: TopicCodes | None = None) -> None:
        """`codes`: with which `states` were read."""
        self.facts = facts
        self.before = states
        self.codes = codes or TopicCodes(facts.names)
        # Groups with records in this run; None: there is no group of these types.
        self.groups: dict[str, ModernGroup | None] = {}
        self.converted: dict[str, ConvertedGroup] = {}
        # Trials of earlier runs.
        self.met: list[Trial] = []

    def take(self, tables: Mapping[str, pa.Table]) -> list[AuditRow]:
        """Rows as what was read so far judges them."""
        return [judged(row) for row in self.unjudged(tables)]

    def unjudged(self, tables: Mapping[str, pa.Table]) -> list[AuditRow]:
        """Rows that `judged` is to look at when all targets are there."""
        records = events(tables, self.codes)
        results = [result for each in records if (result := self.on_record(*each)) is not None]
        results = with_upgrade_defects(results, records, tables)
        rows = [audit_row(each, self.facts, lambda result, _: result.known_defect) for each in results]
        for each in results:
            each.count_in_trial()
        return rows

    def states(self) -> dict[str, ModernGroup | None]:
        """Only between operations: a half-read operation cannot be stored."""
        for group in self.groups.values():
            if group is not None:
                group.settle()
        return self.groups

    @property
    def is_overturned(self) -> bool:
        """Whether rows of earlier runs have to be judged anew."""
        return any(trial.is_overturned for trial in self.met)

    def latest(self) -> dict[str, Latest | None]:
        return {group_id: latest_of_group(group_id, group, self.codes) for group_id, group in self.groups.items()}

    def on_record(self, group_id: str, record: Record) -> TargetResult | None:
        if group_id not in self.groups:
            group = self.groups[group_id] = self.before.get(group_id)
            if group is not None:
                group.resume()
                self.met += group.trials.values()
        if record.type == CLASSIC_TYPE:
            self.on_classic(group_id, record)
            return None
        group = self.group_of(group_id, record)
        if group is None:
            return None
        if record.type in COMPLETIONS:
            return self.complete(group_id, group, record)
        follow(group, record, self.codes)
        if group.is_deleted:
            self.groups[group_id] = None
        return None

    def complete(self, group_id: str, group: ModernGroup, record: Record) -> TargetResult | None:
        return target_result(group_id, group, record, self.codes, self.facts)

    def on_classic(self, group_id: str, record: Record) -> None:
        if record.value is None:
            self.converted[group_id] = ConvertedGroup(record.batch, record.time)
        else:
            self.groups[group_id] = None

    def group_of(self, group_id: str, record: Record) -> ModernGroup | None:
        """Only a value creates a group."""
        group_type = GROUP_TYPES[record.type]
        group = self.groups[group_id]
        if group is not None and group.group_type == group_type:
            return group
        if record.value is None:
            return None
        converted = self.converted.pop(group_id, None)
        made = ModernGroup(group_type)
        if converted == ConvertedGroup(record.batch, record.time):
            made.missing, made.is_converted = None, True
        self.groups[group_id] = made
        return made


@uncollected()
def events(tables: Mapping[str, pa.Table], codes: TopicCodes) -> list[tuple[str, Record]]:
    """Records of these groups, and of classic groups that they may have been, sorted by offset."""
    followed = {name: rows for name, rows in tables.items() if name != TOPOLOGIES_TABLE}
    records = [*modern_records(followed, codes), *classic_values(tables.get(CLASSIC_TABLE))]
    return sorted(records, key=lambda each: each[1].offset)


def classic_values(rows: pa.Table | None) -> Iterator[tuple[str, Record]]:
    """Type 2; the value of a record is how many members the group has."""
    if rows is None or not rows.num_rows:
        return
    read = ClassicColumns(rows)
    yield from read.records(np.diff(read.starts).tolist())
