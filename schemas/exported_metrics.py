"""The metrics that an audit writes for Prometheus: name, help text and labels of each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportedMetric:
    """All are gauges: each file holds what the newest audit saw."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


FINDINGS = ExportedMetric(
    "groupscope_findings",
    "Findings of the newest audit, without waived ones. is_new: true for those that no audit before it reported; sum "
    "by (severity) counts them all.",
    ("severity", "kind", "is_new"),
)
WAIVED = ExportedMetric("groupscope_findings_waived", "Waived findings of the newest audit.")
GROUP_LAG = ExportedMetric(
    "groupscope_group_lag_messages", "Messages that the group has not read, in all its partitions.", ("group",)
)
GROUP_TIME_LAG = ExportedMetric(
    "groupscope_group_lag_seconds", "Age of the oldest message that the group has not read.", ("group",)
)
GROUP_VERDICT = ExportedMetric(
    "groupscope_group_verdict",
    "The group's verdict by Groupscope's rules is the label; the value is 1.",
    ("group", "verdict"),
)
BURROW_VERDICT = ExportedMetric(
    "groupscope_group_burrow_verdict",
    "The group's verdict by Burrow's rules is the label; the value is 1.",
    ("group", "verdict"),
)
GROUPS_LEFT_OUT = ExportedMetric(
    "groupscope_groups_left_out", "Groups that are not in this file, because of max_prometheus_groups."
)
SOURCE_AGE = ExportedMetric(
    "groupscope_source_age_seconds", "Age of the newest record or snapshot when the audit started."
)
RUN_SECONDS = ExportedMetric("groupscope_run_seconds", "How long the audit took.")
RUN_FINISHED = ExportedMetric(
    "groupscope_run_finished_timestamp_seconds", "When the audit ended, in seconds since 1970."
)
EXIT_CODE = ExportedMetric("groupscope_run_exit_code", "Exit code of the audit: 0 is clean.")

METRICS = (
    EXIT_CODE,
    RUN_FINISHED,
    RUN_SECONDS,
    SOURCE_AGE,
    FINDINGS,
    WAIVED,
    GROUP_LAG,
    GROUP_TIME_LAG,
    GROUP_VERDICT,
    BURROW_VERDICT,
    GROUPS_LEFT_OUT,
)
