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
from jobs.reporting.questions import Answers, ask, group_statements
from jobs.reporting.stories import Episode, story
from jobs.warehouses.warehouse import Warehouse

# Worst first; of the others the table of groups has a row, and a report of their own has more.
MOST_PARTS = 150
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


def groups_with_parts(lines: Sequence[GroupLine], findings: Sequence[Finding]) -> list[str]:
    """Those of findings first, also those that are gone; then those that anything is to be seen of."""
    found = dict.fromkeys(each.group for each in findings if each.group is not None and each.severity != "info")
    uneasy = [each.group for each in lines if each.severity or each.verdict not in QUIET]
    moved = [each.group for each in lines if each.num_rebalances]
    return list(dict.fromkeys([*found, *uneasy, *moved]))[:MOST_PARTS]


def group_parts(
    warehouse: Warehouse,
    cluster: str,
    lines: Sequence[GroupLine],
    findings: Sequence[Finding],
    until: datetime | None,
) -> Iterator[GroupPart]:
    by_group: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_group[finding.group].append(finding)
    line_of = {line.group: line for line in lines}
    wanted = groups_with_parts(lines, findings)
    for place in range(0, len(wanted), AT_ONCE):
        some = wanted[place : place + AT_ONCE]
        rows_of = split(ask(warehouse, group_statements(cluster, some)), some)
        for group in some:
            numbers = member_numbers(rows_of[group]["members"])
            known = GroupRows(rows_of[group], group_statements(cluster, [group]), numbers)
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
