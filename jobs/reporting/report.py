"""The whole report: asked of the tables of one cluster, made into pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jobs.reporting.choices import GroupChoice
from jobs.reporting.findings import MOST_FINDINGS, Finding, findings_of
from jobs.reporting.head import Head, head_of
from jobs.reporting.overview import SEVERITIES, counted_groups, group_lines, listings
from jobs.reporting.pages import page
from jobs.reporting.questions import Answers, ask, overview_statements
from jobs.warehouses.warehouse import Warehouse


@dataclass(frozen=True)
class Report:
    head: Head
    num_findings: int
    num_groups: int
    index: str
    # Pages of single groups, by their anchors.
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        return len(self.index.encode()) + sum(len(text.encode()) for text in self.groups.values())


def report_of(warehouse: Warehouse, cluster: str, choice: GroupChoice) -> Report:
    statements = overview_statements(cluster)
    answers = chosen(ask(warehouse, statements), choice)
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
    }
    return Report(head, len(answers["findings"]), len(lines), page("index.html", values))


def chosen(answers: Answers, choice: GroupChoice) -> Answers:
    return {name: choice.rows(rows) for name, rows in answers.items()}


def shown_findings(answers: Answers) -> list[Finding]:
    logs = {row["offsets_partition"]: row["source_file"] for row in answers["logs"]}
    members = {row["member_id"] for row in answers["members"]}
    return findings_of(answers["findings"], logs, members)
