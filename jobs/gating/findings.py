"""Makes the findings of a run: collects the rows of every kind, groups, filters and waives them, and sorts them worst
first."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from jobs.command_line.group_choice import GroupChoice
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import Parameters
from jobs.gating.declarations.waivers import Waiver, waiver_of
from jobs.queries.results import QueryResult
from schemas.words.gate import FindingKind
from schemas.words.history import Confidence, Severity

ORDER = [severity.value for severity in Severity]
# Kinds that affect whether answers are correct come first: readers must know these before the others.
KIND_ORDER = {kind.value: place for place, kind in enumerate(FindingKind)}
Key = tuple[str, str | None, str | None, str]


@dataclass(frozen=True)
class Finding:
    kind: str
    severity: str
    message: str
    query: str
    group_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    at_time: datetime | None = None
    num_rows: int = 1
    evidence_partition: int | None = None
    evidence_first_offset: int | None = None
    evidence_last_offset: int | None = None
    confidence: str = Confidence.CERTAIN.value
    harm: float = 0.0

    @property
    def key(self) -> Key:
        """By this key the next run recognizes it."""
        return self.kind, self.group_id, self.topic, self.severity

    @property
    def place(self) -> tuple[Any, ...]:
        """Worst first."""
        return (
            *(ORDER.index(self.severity), -self.harm, KIND_ORDER[self.kind]),
            *(self.group_id or "", self.topic or "", self.message),
        )


@dataclass(frozen=True)
class Choice(GroupChoice):
    """Which groups count. Findings without a group always do."""

    tool_groups: Sequence[str] = ()

    def is_of_tool(self, group_id: str | None) -> bool:
        return group_id is not None and any(re.fullmatch(pattern, group_id) for pattern in self.tool_groups)


@dataclass
class Findings:
    findings: list[Finding] = field(default_factory=list)
    # Number left out because they are about groups of tools.
    num_of_tools: int = 0


def finding_statements(parameters: Parameters, events: Events) -> list[str]:
    return [file.grouped_sql(parameters, events) for file in finding_files()]


def find(parameters: Parameters, events: Events, choice: Choice, answer: Callable[[str], QueryResult]) -> Findings:
    result = Findings()
    # Among very many findings, a few groups appear again and again.
    is_of_tool = cache(choice.is_of_tool)
    for file in finding_files():
        names, rows = answer(file.grouped_sql(parameters, events))
        listed = file.rows(parameters, events)
        for row in rows:
            each = dict(zip(names, row, strict=True))
            if is_of_tool(each["group_id"]):
                result.num_of_tools += 1
            elif choice.has(each["group_id"]):
                query = file.some_of(listed, each["group_id"], each["topic"], each["severity"])
                result.findings.append(finding(file.kind, each, query))
    return result


def finding(kind: FindingKind, row: Mapping[str, Any], query: str) -> Finding:
    num_rows, num_partitions = int(row["num_rows"]), int(row["num_partitions"])
    what = f"{num_rows:,} like it"
    what = what if num_partitions < 2 else f"{what}, in {num_partitions:,} partitions"
    return Finding(
        kind=kind.value,
        severity=row["severity"],
        message=row["message"] if num_rows == 1 else f"{row['message']} (the worst of {what})",
        query=query,
        group_id=row["group_id"],
        topic=row["topic"],
        partition=row["partition"] if num_partitions == 1 else None,
        at_time=row["at_time"],
        num_rows=num_rows,
        evidence_partition=row["evidence_partition"],
        evidence_first_offset=row["evidence_first_offset"],
        evidence_last_offset=row["evidence_last_offset"],
        confidence=row["confidence"],
        harm=float(row["harm"]),
    )


def finding_rows(
    findings: Iterable[Finding],
    about: Mapping[str, Any],
    as_of: datetime,
    seen: Mapping[Key, datetime],
    waivers: Sequence[Waiver],
) -> list[dict[str, Any]]:
    """Rows of the table, worst first, waived ones last. `about`: cluster and run."""
    chosen = [(each, waiver_of(waivers, each.kind, each.group_id, each.topic)) for each in findings]
    chosen.sort(key=lambda pair: (pair[1] is not None, pair[0].place))
    return [
        {
            **about,
            "rank": rank,
            **{name: value for name, value in vars(each).items() if name != "harm"},
            "first_seen_time": min(seen.get(each.key, as_of), as_of),
            "waived_until_time": None if waiver is None else waiver.until,
            "waiver": None if waiver is None else waiver.reason_text,
        }
        for rank, (each, waiver) in enumerate(chosen, 1)
    ]


def num_at_or_above(rows: Iterable[Mapping[str, Any]], fail_on: str) -> int:
    """How many are at or above this severity and not waived."""
    most = ORDER.index(fail_on)
    return sum(ORDER.index(row["severity"]) <= most and row["waived_until_time"] is None for row in rows)
