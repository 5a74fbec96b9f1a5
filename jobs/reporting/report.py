"""The whole report: asked of the tables of one cluster, made into pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from jobs.reporting.choices import GroupChoice
from jobs.reporting.findings import MOST_FINDINGS, Finding, findings_of
from jobs.reporting.group_parts import GroupPart, group_parts
from jobs.reporting.head import Head, head_of
from jobs.reporting.names import anchor
from jobs.reporting.overview import SEVERITIES, counted_groups, group_lines, listings
from jobs.reporting.pages import page, part_of_page
from jobs.reporting.questions import Answers, ask, overview_statements
from jobs.reporting.written_pages import ENDING, GROUPS_FOLDER
from jobs.warehouses.warehouse import Warehouse

# Of the first page: beyond it, groups have pages of their own.
MOST_BYTES = 3_000_000


@dataclass(frozen=True)
class Report:
    head: Head
    num_findings: int
    num_groups: int
    index: str
    # Pages of single groups, by their anchors.
    groups: Mapping[str, str]

    @property
    def num_bytes(self) -> int:
        return len(self.index.encode()) + sum(len(text.encode()) for text in self.groups.values())


def report_of(warehouse: Warehouse, cluster: str, choice: GroupChoice, most_bytes: int = MOST_BYTES) -> Report:
    statements = overview_statements(cluster)
    answers = {name: choice.rows(rows) for name, rows in ask(warehouse, statements).items()}
    head = head_of(cluster, answers, answers["findings"], choice.words)
    findings = shown_findings(answers)
    lines = group_lines(answers["groups"], answers["topics"], findings)
    values = {
        "head": head,
        "warehouse": warehouse.told,
        "findings": findings,
        "num_more_findings": max(0, len(answers["findings"]) - MOST_FINDINGS),
        "finding_statement": statements["findings"],
        "severities": SEVERITIES,
        "groups": lines,
        "group_statement": statements["groups"],
        "counts": counted_groups(lines),
        "listings": listings(answers, statements),
        "patterns": part_of_page("patterns.html", {}),
    }
    parts = rendered(group_parts(warehouse, cluster, lines, findings, head.until))
    index, inline = first_page(values, parts, most_bytes)
    others = {anchor(group): group_page(group, part, values) for group, part in parts.items() if group not in inline}
    return Report(head, len(answers["findings"]), len(lines), index, others)


def shown_findings(answers: Answers) -> list[Finding]:
    logs = {row["offsets_partition"]: row["source_file"] for row in answers["logs"]}
    members = {row["member_id"] for row in answers["members"]}
    return findings_of(answers["findings"], logs, members)


def rendered(parts: Iterable[GroupPart]) -> dict[str, Markup]:
    return {part.group: part_of_page("group_part.html", {"part": part, "severities": SEVERITIES}) for part in parts}


def first_page(values: Mapping[str, Any], parts: Mapping[str, Markup], most: int) -> tuple[str, Mapping[str, Markup]]:
    """With as many parts, worst first, as there is room for beside everything else."""
    elsewhere = {group: f"{GROUPS_FOLDER}/{anchor(group)}{ENDING}" for group in parts}
    room = most - len(page("index.html", {**values, "hrefs": elsewhere, "inline": {}}).encode())
    inline: dict[str, Markup] = {}
    for group, part in parts.items():
        room -= len(part.encode())
        if room < 0:
            break
        inline[group] = part
    hrefs = elsewhere | {group: f"#{anchor(group)}" for group in inline}
    return page("index.html", {**values, "hrefs": hrefs, "inline": inline}), inline


def group_page(group: str, inner: Markup, values: Mapping[str, Any]) -> str:
    return page("group.html", {"group": group, "inner": inner, "head": values["head"], "patterns": values["patterns"]})
