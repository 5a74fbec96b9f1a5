"""The audit of consumer, share and streams groups: compares every target assignment with what Kafka's assignor
gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemas.records.registry import GROUP_TYPES
from udfs.audit.checks.audit_results import Audited, Latest
from udfs.audit.checks.facts import Facts
from udfs.audit.modern.events import ClassicGroup, modern_events
from udfs.audit.modern.group import (
    COMPLETIONS,
    EPOCH_TYPES,
    NOT_FOLLOWED,
    ModernGroup,
    apply,
)
from udfs.audit.modern.group_json import from_plain, plain
from udfs.audit.modern.latest_assignment import latest_of_group
from udfs.audit.modern.rows import Draft, audited
from udfs.audit.modern_targets import drafted
from udfs.groups.readers.classic_records import TYPE as CLASSIC_TYPE
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes


@dataclass(frozen=True)
class Converted:
    """A classic group with members ended in this operation: the first state of the consumer group is copied from it."""

    batch: int
    time: int | None


class ModernAudit:
    def __init__(self, facts: Facts, states: Mapping[str, Any]) -> None:
        self.facts = facts
        self.before = states
        self.codes = TopicCodes(facts.names)
        # Groups with records in this run; None: there is no group of these types.
        self.groups: dict[str, ModernGroup | None] = {}
        self.converted: dict[str, Converted] = {}

    def take(self, tables: Mapping[str, pa.Table]) -> list[Audited]:
        drafts = [
            draft
            for group_id, record in modern_events(tables, self.codes)
            if (draft := self.followed(group_id, record)) is not None
        ]
        return audited(drafts, self.facts)

    def states(self) -> dict[str, Any]:
        return {
            group_id: None if group is None else plain(group, self.codes) for group_id, group in self.groups.items()
        }

    def latest(self) -> dict[str, Latest | None]:
        return {group_id: latest_of_group(group_id, group, self.codes) for group_id, group in self.groups.items()}

    def followed(self, group_id: str, record: Record) -> Draft | None:
        try:
            return self.on_record(group_id, record)
        except Exception as failure:
            # No content of a log may end the run. From here on, nothing counts as a certain difference.
            group = self.groups.get(group_id)
            if group is not None:
                group.missing = NOT_FOLLOWED.format(record.offset, f"{type(failure).__name__}: {failure}")
            return None

    def on_record(self, group_id: str, record: Record) -> Draft | None:
        if group_id not in self.groups:
            self.groups[group_id] = from_plain(self.before.get(group_id), self.codes)
        if record.type == CLASSIC_TYPE:
            self.on_classic(group_id, record)
            return None
        group = self.group_of(group_id, record)
        if group is None:
            return None
        if record.type in COMPLETIONS:
            return self.completed(group_id, group, record)
        if record.type in EPOCH_TYPES and record.value is None:
            self.groups[group_id] = None
        else:
            apply(group, record, self.codes)
        return None

    def completed(self, group_id: str, group: ModernGroup, record: Record) -> Draft | None:
        return drafted(group_id, group, record, self.codes, self.facts)

    def on_classic(self, group_id: str, record: Record) -> None:
        value: ClassicGroup | None = record.value
        if value is None:
            self.converted[group_id] = Converted(record.batch, record.time)
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
        if converted == Converted(record.batch, record.time):
            made.missing, made.is_converted = None, True
        self.groups[group_id] = made
        return made


def latest_of(group_id: str, state: Any, facts: Facts) -> Latest | None:
    """What `latest` returns for a group in this state."""
    codes = TopicCodes(facts.names)
    return latest_of_group(group_id, from_plain(state, codes), codes)
