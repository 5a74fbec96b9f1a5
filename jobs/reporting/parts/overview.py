"""The whole cluster at a glance: its groups, and what is listed about all of them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.answers.durations import longest_text
from jobs.answers.snapshots import assignor_in_use, first_assignor
from jobs.reporting.parts.findings import Finding
from jobs.reporting.rows.listings import Listing, Row, listing, moment
from jobs.reporting.rows.names import anchor
from jobs.reporting.rows.questions import Answers
from schemas.words.history import Severity
from schemas.words.lag import WORST_FIRST

SEVERITIES = [severity.value for severity in Severity]
# Worst first; groups without a verdict come between those that are well and those that are not.
VERDICTS = (*WORST_FIRST[:-1], None, WORST_FIRST[-1])
TITLES: Mapping[str, str] = {
    "marks": "Marks of deployments and changes",
    "storms": "Rebalance storms",
    "volume": "Who fills the offsets topic",
    "expiring": "Offsets that expire next",
    "migrations": "Progress of migrations to cooperative rebalancing and to the consumer protocol",
    "decoding": "Record types in the log, and records that cannot be decoded",
    "coverage": "History by offsets partition",
}
SINCE = "since "


@dataclass(frozen=True)
class GroupLine:
    group: str
    link: str
    kind: str
    state: str
    assignor: str
    num_members: int | None
    verdict: str
    # What is known of it, where not all is: never zero.
    lag: str
    num_rebalances: int
    unread: str
    # By severity.
    findings: Mapping[str, int]
    topics: Sequence[str]
    is_tool: bool

    @property
    def severity(self) -> str | None:
        return next((each for each in SEVERITIES if self.findings.get(each)), None)

    @property
    def unread_note(self) -> str:
        notes = {"none": "no unread time", "unknown": "unread time unknown"}
        span = self.unread if self.unread.startswith(SINCE) else f"for up to {self.unread}"
        return notes.get(self.unread, f"unread {span}")


@dataclass(frozen=True)
class GroupCounts:
    title: str
    counts: Sequence[tuple[str, int]]


def group_lines(answers: Answers, findings: Sequence[Finding]) -> list[GroupLine]:
    """Worst first."""
    default = first_assignor(next((row["assignor"] for row in answers["assignors"]), None))
    by_group: dict[str | None, Counter[str]] = defaultdict(Counter)
    for finding in findings:
        if finding.waived_until is None:
            by_group[finding.group][finding.severity] += 1
    used: dict[str, list[str]] = defaultdict(list)
    for row in answers["topics"]:
        used[row["group_id"]].append(row["topic"])
    lines = [group_line(row, by_group[row["group_id"]], used[row["group_id"]], default) for row in answers["groups"]]
    return sorted(lines, key=badness)


def group_line(row: Row, findings: Mapping[str, int], topics: Sequence[str], default_assignor: str) -> GroupLine:
    return GroupLine(
        group=row["group_id"],
        link=anchor(row["group_id"]),
        kind=row["group_type"] or "unknown",
        state=row["state"] or "unknown",
        assignor=assignor_in_use(row, lambda: default_assignor) or "none",
        num_members=row["num_members"],
        verdict=row["own_verdict"] or "UNKNOWN",
        lag=lag_text(row),
        num_rebalances=row["num_rebalances"],
        unread=unread_text(row),
        findings=findings,
        topics=topics,
        is_tool=bool(row["is_tool"]),
    )


def unread_text(row: Row) -> str:
    """A rebalance in which no member lost a partition, such as the first one of a group, leaves nothing unread. Of the
    others, what the records do not show is unknown. Partitions of a group without members go on to be unread."""
    longest = row["longest_unread_high_ms"]
    if row["unread_since_time"] is not None:
        return SINCE + moment(row["unread_since_time"])
    if longest is not None:
        return longest_text(longest)
    return "unknown" if row["num_unread_unknown"] else "none"


def lag_text(row: Row) -> str:
    if row["lag"] is None:
        return "unknown"
    return f"{row['lag']:,} or more" if row["num_unknown"] else f"{row['lag']:,}"


def badness(line: GroupLine) -> tuple[Any, ...]:
    counts = [-line.findings.get(each, 0) for each in SEVERITIES]
    verdict = VERDICTS.index(line.verdict) if line.verdict in VERDICTS else len(VERDICTS)
    return *counts[:2], verdict, *counts[2:], line.group


def counted_groups(lines: Sequence[GroupLine]) -> list[GroupCounts]:
    kinds = (("type", "kind"), ("state", "state"), ("assignor", "assignor"), ("verdict", "verdict"))
    return [
        GroupCounts(f"By {title}", Counter(getattr(line, name) for line in lines).most_common())
        for title, name in kinds
    ]


def listings(answers: Answers, statements: Mapping[str, str]) -> list[Listing]:
    """Those that have rows."""
    return [
        listing(name, title, answers[name], list(answers[name][0]), statements[name])
        for name, title in TITLES.items()
        if answers[name]
    ]
