"""What each target assignment of a log shows about names and ids of topics: the fold of the audit without assignors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from schemas.records.registry import types_of
from schemas.words.records import GroupType
from udfs.audit.checks.facts import Facts
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import Unanswerable, member_inputs
from udfs.audit.modern.rows import TargetResult
from udfs.audit.modern.topics import MOST_INFERRED, seen_of
from udfs.audit.modern_audit import ModernAudit
from udfs.audit.modern_targets import completed_epoch
from udfs.audit.topic_names import Reign, TargetNames
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.records import Record

# Records after which the topics of a group may be others. A topic that changes has a new group epoch first.
ENDS = {CLASSIC_TYPE, *types_of("group_metadata")}


class TargetEvidence(ModernAudit):
    """`known`: names of topics by id. The result is in `target_names`."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(Facts(logged_names=known), {})
        self.target_names: list[TargetNames] = []
        # By group, the place of the target that is in force.
        self.in_force: dict[str, int] = {}

    def take(self, tables: Mapping[str, Any]) -> list[Any]:
        super().take(tables)
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

    def complete(self, group_id: str, group: ModernGroup, record: Record) -> TargetResult | None:
        if (epoch := completed_epoch(group, record)) is None:
            return None
        self.end(group_id, record)
        abouts, metadata_hash = group.members_of(epoch)
        try:
            seen = seen_of(group, member_inputs(group, abouts), self.codes, record.time)
        except Unanswerable:
            seen = None
        if seen is not None and seen.possible and max(seen.counts.values()) <= MOST_INFERRED:
            possible = tuple((topic_id, tuple(sorted(names))) for topic_id, names in sorted(seen.possible.items()))
            counts, is_whole = tuple(sorted(seen.counts.items())), group.missing_now is None
            names = tuple(sorted(seen.names))
            # Members of share groups are given no topics whose share state is not set up yet.
            is_all = record.time is not None and group.group_type == GroupType.CONSUMER
            self.in_force[group_id] = len(self.target_names)
            self.target_names.append(
                TargetNames(
                    names=names,
                    counts=counts,
                    possible=possible,
                    metadata_hash=metadata_hash,
                    is_whole=is_whole,
                    time=record.time,
                    reign=Reign(record.time) if is_all and record.time is not None else None,
                )
            )
        group.complete(epoch)
        return None
