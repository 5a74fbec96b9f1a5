"""Parts about single groups: which groups have one, and what is in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from markupsafe import Markup

from jobs.answers.marks import marks_about
from jobs.answers.table_reader import Row as DictRow
from jobs.redacting.redaction import Redaction
from jobs.reporting.drawings.member_bar import member_numbers, swatch
from jobs.reporting.parts.figures import Figure, GroupRows, figures
from jobs.reporting.parts.findings import Finding
from jobs.reporting.parts.overview import GroupLine
from jobs.reporting.parts.stories import Episode, story
from jobs.reporting.rows.listings import Listing, Row
from jobs.reporting.rows.names import anchor
from jobs.reporting.rows.questions import Answers, Ask, group_statements

# Worst first; the history of the others is drawn in brief. A report of their own, by `--group`, has more.
MOST_IN_FULL = 150
BRIEF = 4
# Asked for at once, and as long as it is not known whether there is room for more: their rows are in memory together.
# Of groups that are drawn in brief, so many times as many.
AT_ONCE, FIRST_AT_ONCE = 50, 10
MOST_IN_LEGEND = 40
QUIET = ("OK", "UNKNOWN")


@dataclass(frozen=True)
class Member:
    number: int
    swatch: Markup
    member_id: str
    client_id: str | None
    client_host: str | None


@dataclass(frozen=True)
class GroupPart:
    group: str
    link: str
    # None: it is no longer there.
    line: GroupLine | None
    findings: Sequence[Finding]
    story: Sequence[Episode]
    members: Sequence[Member]
    num_more_members: int
    figures: Sequence[Figure]
    verdicts: Listing
    topics: Sequence[str]
    # Of what its numbers count.
    statements: Mapping[str, str]
    warehouse: str

    @property
    def shown_listings(self) -> set[str]:
        """Listings that it has."""
        listings = [each for figure in self.figures for each in figure.listings] + [self.verdicts]
        return {each.name for each in listings if each.num_shown}


def drawn_groups(lines: Sequence[GroupLine], findings: Sequence[Finding]) -> list[str]:
    """All of them: those of findings first, deleted ones too; then those with more to show."""
    of_findings = dict.fromkeys(each.group for each in findings if each.group is not None and each.severity != "info")
    uneasy = [each.group for each in lines if each.severity or each.verdict not in QUIET]
    moved = [each.group for each in lines if each.num_rebalances]
    return list(dict.fromkeys([*of_findings, *uneasy, *moved, *(each.group for each in lines)]))


@dataclass(frozen=True)
class GroupsToDraw:
    """Worst first, with what is known of them already: plain data, since other processes may draw some of them."""

    warehouse: str
    cluster: str
    redaction: Redaction
    groups: Sequence[str]
    # Of these the first ones.
    num_in_full: int
    lines: Mapping[str, GroupLine]
    findings: Mapping[str, Sequence[Finding]]
    until: datetime | None
    # Not redacted: their patterns are found in real names of groups.
    marks: Sequence[DictRow] = ()

    def without(self, num_first: int) -> "GroupsToDraw":
        return self.of(self.groups[num_first:], max(0, self.num_in_full - num_first))

    def dealt(self, number: int) -> list["GroupsToDraw"]:
        """In turn, so that all have as much to draw."""
        hands = ((self.groups[place::number], len(range(place, self.num_in_full, number))) for place in range(number))
        return [self.of(groups, in_full) for groups, in_full in hands if groups]

    def of(self, groups: Sequence[str], num_in_full: int) -> "GroupsToDraw":
        lines = {group: self.lines[group] for group in groups if group in self.lines}
        findings = {group: self.findings[group] for group in groups if group in self.findings}
        return replace(self, groups=groups, num_in_full=num_in_full, lines=lines, findings=findings)

    def parts(self, ask: Ask, at_once: int = AT_ONCE) -> Iterator[GroupPart]:
        for first, end, share in ((0, self.num_in_full, 1), (self.num_in_full, len(self.groups), BRIEF)):
            step = share * at_once
            for place in range(first, min(end, len(self.groups)), step):
                yield from self.read_parts(ask, self.groups[place : min(place + step, end)], share)

    def read_parts(self, ask: Ask, groups: Sequence[str], share: int) -> Iterator[GroupPart]:
        redaction = self.redaction
        answers = ask(group_statements(self.cluster, [redaction.real(group) for group in groups], share))
        rows_of = by_group({name: redaction.rows(rows) for name, rows in answers.items()}, groups)
        for group in groups:
            numbers = member_numbers(rows_of[group]["members"])
            statements = group_statements(redaction.name(self.cluster), [group], share)
            known = GroupRows(rows_of[group], statements, numbers, share)
            marks = [
                {**mark, "text": redaction.name(mark["text"])}
                for mark in marks_about(self.marks, redaction.real(group))
            ]
            yield group_part(
                group, self.lines.get(group), self.findings.get(group, ()), known, self.until, self.warehouse, marks
            )


def by_group(answers: Answers, groups: Sequence[str]) -> dict[str, Answers]:
    rows_of: dict[str, Answers] = {group: {name: [] for name in answers} for group in groups}
    for name, rows in answers.items():
        for row in rows:
            rows_of[row["group_id"]][name].append(row)
    return rows_of


def group_part(
    group: str,
    line: GroupLine | None,
    findings: Sequence[Finding],
    known: GroupRows,
    until: datetime | None,
    warehouse: str,
    marks: Sequence[DictRow],
) -> GroupPart:
    rows = known.rows
    members = legend(rows["members"], known)
    return GroupPart(
        group=group,
        link=anchor(group),
        line=line,
        findings=findings,
        story=story(rows, marks, until),
        members=members[:MOST_IN_LEGEND],
        num_more_members=max(0, len(members) - MOST_IN_LEGEND),
        figures=list(figures(known, until)),
        verdicts=known.listing("verdicts", "Lag and lag verdict of partitions"),
        topics=() if line is None else line.topics,
        statements=known.statements,
        warehouse=warehouse,
    )


def legend(stays: Sequence[Row], known: GroupRows) -> list[Member]:
    newest = {row["member_id"]: row for row in stays}
    return [
        Member(number, swatch(number), member, newest[member]["client_id"], newest[member]["client_host"])
        for member, number in known.numbers.items()
    ]
