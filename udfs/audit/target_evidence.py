"""What each target assignment of a log shows about names and ids of topics: the fold of the audit without assignors."""

from collections.abc import Mapping
from typing import Any

from udfs.audit.checks.facts import Facts
from udfs.audit.infer_topic_names import TargetNames
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import Unanswerable, member_inputs, seen_of
from udfs.audit.modern.rows import Draft
from udfs.audit.modern_audit import ModernAudit
from udfs.audit.modern_targets import MOST_INFERRED, complete, completed_epoch
from udfs.groups.readers.records import Record


class TargetEvidence(ModernAudit):
    """`known`: names of topics by id. The result is in `target_names`."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(Facts(logged_names=known), {})
        self.target_names: list[TargetNames] = []

    def take(self, tables: Mapping[str, Any]) -> list[Any]:
        super().take(tables)
        return []

    def complete(self, group_id: str, group: ModernGroup, record: Record) -> Draft | None:
        if (epoch := completed_epoch(group, record)) is None:
            return None
        abouts, metadata_hash = group.members_of(epoch)
        try:
            seen = seen_of(group, member_inputs(group, abouts), self.codes, record.time)
        except Unanswerable:
            seen = None
        if seen is not None and seen.possible and max(seen.counts.values()) <= MOST_INFERRED:
            possible = tuple((topic_id, tuple(sorted(names))) for topic_id, names in sorted(seen.possible.items()))
            counts, is_whole = tuple(sorted(seen.counts.items())), group.missing_now is None
            names = tuple(sorted(seen.names))
            self.target_names.append(
                TargetNames(
                    names=names,
                    counts=counts,
                    possible=possible,
                    metadata_hash=metadata_hash,
                    is_whole=is_whole,
                    time=record.time,
                )
            )
        complete(group, epoch)
        return None
