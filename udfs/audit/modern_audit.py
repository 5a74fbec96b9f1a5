"""The audit of consumer, share and streams groups: compares every target assignment with what Kafka's assignor gives.
And the same fold without assignors: what targets show about names and ids of topics."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.records import GROUP_TYPES, types_of
from schemas.words.assignments import AssignorSource, PartitionCountsSource, Verdict
from schemas.words.records import GroupType
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import AuditRow, Latest, Trial, audit_row, judged
from udfs.audit.modern.defects import TARGET_DEFECTS, defect_of_target, with_upgrade_defects
from udfs.audit.modern.group import COMPLETIONS, ModernGroup, Newest, follow
from udfs.audit.modern.questions import MOST_INFERRED, Unanswerable, latest_of_group, member_inputs, names_shown
from udfs.audit.modern.targets import TargetResult, recomputed
from udfs.audit.modern.topic_names import Reign, TargetNames
from udfs.groups.modern.record_handlers import on_target_epoch
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

CLASSIC_TABLE = "classic_group_metadata"
# Tasks of streams groups cannot be recomputed, so their topologies are not needed.
TOPOLOGIES_TABLE = "streams_group_topologies"
# Records after which the topics of a group may be others. A topic that changes has a new group epoch first.
ENDS = {CLASSIC_TYPE, *types_of("group_metadata")}


class ModernAudit:
    def __init__(self, facts: Facts, states: Mapping[str, ModernGroup], codes: TopicCodes | None = None) -> None:
        """`codes`: with which `states` were read."""
        self.facts = facts
        self.before = states
        self.codes = codes or TopicCodes(facts.names)
        # Groups with records in this run; None: there is no group of these types.
        self.groups: dict[str, ModernGroup | None] = {}
        # By classic group with members, the batch and time in which it ended: the first state of a consumer group of
        # the same operation is copied from it.
        self.converted: dict[str, tuple[int, int | None]] = {}
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
            if record.value is None:
                self.converted[group_id] = record.batch, record.time
            else:
                self.groups[group_id] = None
            return None
        group = self.group_of(group_id, record)
        if group is None:
            return None
        if record.type not in COMPLETIONS:
            follow(group, record, self.codes)
            if group.is_deleted:
                self.groups[group_id] = None
            return None
        group.begin(record)
        group.look()
        on_target_epoch(group, record)
        epoch = group.target_epoch
        if record.value is None or epoch is None:
            # It deletes the target.
            return None
        result = self.complete(group_id, group, epoch, record)
        group.complete(epoch)
        return result

    def group_of(self, group_id: str, record: Record) -> ModernGroup | None:
        """Only a value creates a group."""
        group_type = GROUP_TYPES[record.type]
        group = self.groups[group_id]
        if group is not None and group.group_type == group_type:
            return group
        if record.value is None:
            return None
        made = self.groups[group_id] = ModernGroup(group_type)
        if self.converted.pop(group_id, None) == (record.batch, record.time):
            made.missing, made.is_converted = None, True
        return made

    def complete(self, group_id: str, group: ModernGroup, epoch: int, record: Record) -> TargetResult | None:
        """For a record of type 6, 12 or 20. None: it makes no row, since the group has no members."""
        if not group.members and not group.targets:
            return None
        first, evidence = group.operation.first_target_offset, group.operation.first_offset
        result = TargetResult(
            verdict=Verdict.NOT_RECOMPUTABLE,
            reason=None,
            group_id=group_id,
            group_type=group.group_type,
            record=record,
            epoch=epoch,
            first_offset=evidence if first is None else min(first, evidence),
            missing=group.missing_now,
            faults=tuple(group.watch.faults) if group.group_type == GroupType.CONSUMER else None,
        )
        result = recomputed(result, group, self.codes, self.facts)
        known_defect = defect_of_target(group, result)
        group.newest = newest_of(result)
        # A difference that a known defect of Kafka's assignor explains is no sign of another class.
        is_no_trial = result.outcome is None or (not result.is_reproduced and known_defect in TARGET_DEFECTS)
        return replace(result, known_defect=known_defect, trial=None if is_no_trial else self.trial_of(group, result))

    def trial_of(self, group: ModernGroup, result: TargetResult) -> Trial:
        """Of a name that nobody knows there is one too."""
        name = "" if result.source == AssignorSource.INFERRED else result.assignor or ""
        trial = group.trials.setdefault(name, Trial())
        trial.is_any_listed = group.group_type in self.facts.custom_listed
        trial.is_listed = result.source != AssignorSource.VOTES and group.group_type in self.facts.custom_default
        return trial


def newest_of(result: TargetResult) -> Newest:
    question = result.question
    source = None if question is None else question.metadata.source
    if result.confirmation.why is not None and not result.is_reproduced:
        source = PartitionCountsSource.INFERRED
    return Newest(
        assignment_offset=result.record.offset,
        record_time=result.record.time,
        first_offset=result.first_offset,
        assignor=result.assignor,
        counts_source=source,
        topics={} if question is None else {
            topic.name: (topic.partitions, topic.topic_id) for topic in question.metadata.topics
        },
        reason=result.reason if question is None else None,
    )  # fmt: skip


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


class TargetEvidence(ModernAudit):
    """`known`: names of topics by id. The result is in `target_names`."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(Facts(logged_names=known), {})
        self.target_names: list[TargetNames] = []
        # By group, the place of the target that is in force.
        self.in_force: dict[str, int] = {}

    def take(self, tables: Mapping[str, Any]) -> list[Any]:
        for each in events(tables, self.codes):
            self.on_record(*each)
        return []

    def on_record(self, group_id: str, record: Record) -> TargetResult | None:
        if record.type in ENDS:
            self.end(group_id, record)
        return super().on_record(group_id, record)

    def end(self, group_id: str, record: Record) -> None:
        place = self.in_force.pop(group_id, None)
        if place is not None:
            ended = self.target_names[place]
            reign = Reign(ended.reign.since, record.time) if ended.reign and record.time is not None else None
            self.target_names[place] = replace(ended, reign=reign)

    def complete(self, group_id: str, group: ModernGroup, epoch: int, record: Record) -> TargetResult | None:
        self.end(group_id, record)
        try:
            inputs = member_inputs(group.inputs_at(epoch), group.targets, group.operation.replaced)
        except Unanswerable:
            return None
        shown = names_shown(group, inputs, record.time, self.codes)
        if shown.possible and max(shown.counts.values()) <= MOST_INFERRED:
            # Members of share groups are given no topics whose share state is not set up yet.
            is_all = group.group_type == GroupType.CONSUMER
            reign = Reign(record.time) if is_all and record.time is not None else None
            self.in_force[group_id] = len(self.target_names)
            self.target_names.append(replace(shown, counts=dict(sorted(shown.counts.items())), reign=reign))
        return None
