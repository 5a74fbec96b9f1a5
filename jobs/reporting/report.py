"""The whole report: asked of the tables of one cluster, made into pages."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from markupsafe import Markup

from jobs.answers.table_reader import Row as DictRow
from jobs.command_line.values import GroupChoice
from jobs.output.progress import counting
from jobs.output.zones import ZONES
from jobs.redacting.redaction import Key, NoRedaction, Redaction, known_words
from jobs.reporting.group_pages import About, GroupPages, part_text
from jobs.reporting.page_files import ENDING, GROUPS_FOLDER, Page
from jobs.reporting.pages import page, part_of_page
from jobs.reporting.parts.findings import MOST_FINDINGS, Finding, findings_of
from jobs.reporting.parts.group_parts import AT_ONCE, FIRST_AT_ONCE, MOST_IN_FULL, GroupsToDraw, drawn_groups
from jobs.reporting.parts.head import Head, head_of
from jobs.reporting.parts.overview import SEVERITIES, GroupLine, counted_groups, group_lines, listings
from jobs.reporting.rows.listings import Row
from jobs.reporting.rows.names import anchor
from jobs.reporting.rows.questions import Answers, Ask, asking, name_statement, overview_statements, row_statements
from jobs.warehouses.warehouse import Warehouse

# Of the first page: beyond it, groups have pages of their own.
MOST_BYTES = 3_000_000


@dataclass(frozen=True)
class Report:
    head: Head
    num_findings: int
    num_groups: int
    index: str
    # Groups that it has no room for.
    others: GroupPages
    ask: Ask

    @property
    def groups(self) -> Iterator[Page]:
        """Pages of these, with their anchors: drawn when they are asked for, since there may be thousands."""
        return self.others.pages(self.ask)


@contextmanager
def report_of(
    warehouse: Warehouse,
    cluster: str,
    choice: GroupChoice,
    basis: str = "",
    most_bytes: int = MOST_BYTES,
    key: Key | None = None,
) -> Iterator[Report]:
    """`basis`: what the page says that it rests on; `key`: of the hashes that stand for names."""
    with asking(warehouse, cluster) as ask:
        redaction = NoRedaction() if key is None else redaction_of(ask, cluster, key.secret)
        about = About(warehouse.address, cluster, choice.words, basis, cluster, zone=ZONES.printed)
        if key is not None:
            about = redact_about(redaction, cluster, choice, key)
        asked = dict(counted_answers(ask, overview_statements(cluster)))
        answers = {name: redaction.rows(choice.rows(rows)) for name, rows in asked.items()}
        findings = shown_findings(answers, is_redacted=key is not None)
        lines = group_lines(answers, findings)
        values = page_values(about, answers, findings, lines)
        marks = [dict(row) for row in reversed(asked["marks"])]
        groups = groups_to_draw(about, cluster, redaction, lines, findings, values["head"].until, marks)
        index, num_inline = first_page(values, groups, ask, most_bytes)
        others = GroupPages(about, values["head"], groups.without(num_inline))
        yield Report(
            head=values["head"],
            num_findings=len(answers["findings"]),
            num_groups=len(lines),
            index=index,
            others=others,
            ask=ask,
        )


def counted_answers(ask: Ask, statements: Mapping[str, str]) -> Iterator[tuple[str, list[Row]]]:
    with counting(len(statements), "statements") as activity:
        for name, statement in statements.items():
            yield from ask({name: statement}).items()
            activity.done += 1


def groups_to_draw(
    about: About,
    cluster: str,
    redaction: Redaction,
    lines: Sequence[GroupLine],
    findings: Sequence[Finding],
    until: datetime | None,
    marks: Sequence[DictRow],
) -> GroupsToDraw:
    by_group: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.group is not None:
            by_group.setdefault(finding.group, []).append(finding)
    wanted = drawn_groups(lines, findings)
    lines_of = {each.group: each for each in lines}
    num_in_full = min(MOST_IN_FULL, len(wanted))
    return GroupsToDraw(
        warehouse=about.warehouse,
        cluster=cluster,
        redaction=redaction,
        groups=wanted,
        num_in_full=num_in_full,
        lines=lines_of,
        findings=by_group,
        until=until,
        marks=marks,
    )


def redaction_of(ask: Ask, cluster: str, key: bytes) -> Redaction:
    (rows,) = ask({"names": name_statement(cluster)}).values()
    names = (row["name"] for row in rows if not (row["may_be_word"] and row["name"] in known_words()))
    return Redaction(key, [cluster, *names])


def redact_about(redaction: Redaction, cluster: str, choice: GroupChoice, key: Key) -> About:
    """Paths and patterns hold names too."""
    words, name = None if choice.words is None else "a part of the groups", redaction.name(cluster)
    return About("WAREHOUSE", name, words, "", name, is_redacted=True, has_kept_key=key.is_kept, zone=ZONES.printed)


def page_values(
    about: About, answers: Answers, findings: Sequence[Finding], lines: Sequence[GroupLine]
) -> dict[str, Any]:
    statements = overview_statements(about.cluster)
    return {
        "about": about,
        "head": head_of(about.cluster, answers, answers["findings"], about.choice),
        "findings": findings,
        "num_more_findings": max(0, len(answers["findings"]) - MOST_FINDINGS),
        "finding_statement": statements["findings"],
        "severities": SEVERITIES,
        "groups": lines,
        "group_statement": statements["groups"],
        "counts": counted_groups(lines),
        "listings": listings(answers, statements),
        "statements": statements | row_statements(about.cluster),
        "patterns": part_of_page("patterns.html", {}),
    }


def shown_findings(answers: Answers, *, is_redacted: bool) -> list[Finding]:
    logs = {row["offsets_partition"]: row["source_file"] for row in answers["logs"]}
    members = {row["member_id"] for row in answers["members"]}
    # A command that names a hash, or its folder, would find nothing in the log.
    return findings_of(answers["findings"], {} if is_redacted else logs, members, has_names=not is_redacted)


def first_page(values: Mapping[str, Any], groups: GroupsToDraw, ask: Ask, most: int) -> tuple[str, int]:
    """With as many parts, worst first, as there is room for beside everything else; and how many these are."""
    hrefs = {group: f"{GROUPS_FOLDER}/{anchor(group)}{ENDING}" for group in groups.groups}
    alone = page("index.html", {**values, "hrefs": hrefs, "inline": {}})
    room = most - len(alone.encode())
    if room < 0:
        return alone, 0
    inline: dict[str, Markup] = {}
    with counting(len(groups.groups), "groups") as activity:
        for part in groups.parts(ask, AT_ONCE if len(groups.groups) <= AT_ONCE else FIRST_AT_ONCE):
            text = part_text(part)
            room -= len(text.encode())
            if room < 0:
                break
            inline[part.group] = text
            hrefs[part.group] = f"#{anchor(part.group)}"
            activity.done += 1
    # Writing a page takes long where there are thousands of findings.
    whole = page("index.html", {**values, "hrefs": hrefs, "inline": inline}) if inline else alone
    return whole, len(inline)
