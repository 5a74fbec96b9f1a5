"""Rebalances of leaders with old metadata. The records of a rebalance only show that partitions of a topic are not
assigned any more. The audit of assignments may know, by snapshots, that the topic was there, so that nobody reads it as
long as the assignment holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jobs.answers.events.unread_spans import AnyRow
from jobs.answers.history import History
from jobs.answers.table_reader import Row, equal
from schemas.words.assignments import Verdict
from udfs.groups.history.change_details import CREATED, DELETED, GONE_OR_UNKNOWN

COLUMNS = ("assignment_offset", "verdict", "reason", "stale_topics")


@dataclass(frozen=True)
class StaleLeaders:
    """`audits`: rows of assignment_audit of a group that are a result, by the record that completes the assignment."""

    audits: Mapping[int, AnyRow] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[AnyRow]) -> "StaleLeaders":
        """A static member that came back changes nothing."""
        computed = [row for row in rows if row["verdict"] != Verdict.CARRIED_OVER]
        in_order = sorted(computed, key=lambda row: int(row["assignment_offset"]))
        return cls({int(row["assignment_offset"]): row for row in in_order})

    @cached_property
    def order(self) -> Sequence[int]:
        return list(self.audits)

    @property
    def topics_now(self) -> frozenset[str]:
        """Topics of which the group's newest assignment left something out."""
        return self.topics_of(self.order[-1]) if self.order else frozenset()

    def topics_of(self, assignment: int | None) -> frozenset[str]:
        row = None if assignment is None else self.audits.get(assignment)
        return frozenset(row["stale_topics"] or () if row is not None else ())

    def before(self, assignment: int) -> int | None:
        return max((each for each in self.order if each < assignment), default=None)

    def told(self, row: Row) -> Row:
        """A row of rebalances with a detail that says what the leader did."""
        offset = int(row["assignment_offset"])
        topics, detail = self.topics_of(offset), row["trigger_detail"]
        before = self.topics_of(self.before(offset)) - topics
        if not topics and not before:
            return row
        text = str(detail or "")
        for topic in before:
            text = text.replace(f"topic {topic} {CREATED}", f"the leader knows {topic} now")
        # Older releases said that it was deleted.
        gone = {f"topic {name} {what}" for name in topics for what in (GONE_OR_UNKNOWN, DELETED)}
        parts = [each for each in text.split("; ") if each not in gone]
        reasons = [str(self.audits[offset]["reason"])] if topics else []
        return {**row, "trigger_detail": "; ".join(filter(None, (*parts, *reasons))) or detail}


def stale_leaders(history: History, group: str) -> StaleLeaders:
    return StaleLeaders.of(history.rows("assignment_audit", equal("group_id", group), columns=COLUMNS))


def rows_told(rows: Iterable[Mapping[str, Any]], stale: StaleLeaders) -> list[Row]:
    return [stale.told(dict(row)) for row in rows]
