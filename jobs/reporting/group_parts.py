"""Parts about single groups: which groups have one, and what is in it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from jobs.reporting.drawings.member_bar import member_numbers, swatch
from jobs.reporting.figures import Figure, GroupRows, figures
from jobs.reporting.findings import Finding
from jobs.reporting.listings import Listing, Row
from jobs.reporting.names import anchor
from jobs.reporting.overview import GroupLine
from jobs.reporting.questions import Answers, Ask, group_statements
from jobs.reporting.redaction import Redaction
from jobs.reporting.stories import Episode, story

# Worst first; the history of the others is drawn in brief. A report of their own, by `--group`, has more.
MOST_IN_FULL = 150
BRIEF = 4
# Asked for at once: their rows are in memory together.
AT_ONCE = 50
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


def drawn_groups(lines: Sequence[GroupLine], findings: Sequence[Finding]) -> list[str]:
    """All of them: those of findings first, also those that are gone; then those that more is to be seen of."""
    found = dict.fromkeys(each.group for each in findings if each.group is not None and each.severity != "info")
    uneasy = [each.group for each in lines if each.severity or each.verdict not in QUIET]
    moved = [each.group for each in lines if each.num_rebalances]
    return list(dict.fromkeys([*found, *uneasy, *moved, *(each.group for each in lines)]))


def group_parts(
    ask: Ask,
    cluster: str,
    redaction: Redaction,
    wanted: Sequence[str],
    lines: Sequence[GroupLine],
    findings: Sequence[Finding],
    until: datetime | None,
) -> Iterator[GroupPart]:
    by_group: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_group[finding.group].append(finding)
    line_of = {line.group: line for line in lines}
    for place in range(0, len(wanted), AT_ONCE):
        some = wanted[place : place + AT_ONCE]
        share = 1 if place < MOST_IN_FULL else BRIEF
        asked = ask(group_statements(cluster, [redaction.real(group) for group in some], share))
        rows_of = split({name: redaction.rows(rows) for name, rows in asked.items()}, some)
        for group in some:
            numbers = member_numbers(rows_of[group]["members"])
            known = GroupRows(rows_of[group], group_statements(redaction.name(cluster), [group], share), numbers, share)
            yield part(group, line_of.get(group), by_group[group], known, until)


def split(answers: Answers, groups: Sequence[str]) -> dict[str, Answers]:
    found: dict[str, Answers] = {group: {name: [] for name in answers} for group in groups}
    for name, rows in answers.items():
        for row in rows:
            found[row["group_id"]][name].append(row)
    return found


def part(
    group: str, line: GroupLine | None, findings: Sequence[Finding], known: GroupRows, until: datetime | None
) -> GroupPart:
    rows = known.rows
    members = legend(rows["members"], known)
    return GroupPart(
        group, anchor(group), line, findings, story(rows["rebalances"], rows["moves"], rows["members"]),
        members[:MOST_IN_LEGEND], max(0, len(members) - MOST_IN_LEGEND), list(figures(known, until)),
        known.listing("verdicts", "Verdict and lag of partitions"), () if line is None else line.topics,
    )  # fmt: skip


def legend(stays: Sequence[Row], known: GroupRows) -> list[Member]:
    newest = {row["member_id"]: row for row in stays}
    return [
        Member(number, swatch(number), member, newest[member]["client_id"], newest[member]["client_host"])
        for member, number in known.numbers.items()
    ]
