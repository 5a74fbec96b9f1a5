"""What an audit writes for a node exporter's textfile collector: names, meanings and labels of its metrics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportedMetric:
    """All are gauges: each file holds what the newest audit saw."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


FINDINGS = ExportedMetric(
    "groupscope_findings", "Findings of the newest audit that no waiver covers.", ("severity", "kind")
)
WAIVED = ExportedMetric("groupscope_findings_waived", "Findings of the newest audit that a waiver covers.")
GROUP_LAG = ExportedMetric(
    "groupscope_group_lag_messages", "Messages that the group has not read, over its partitions.", ("group",)
)
GROUP_TIME_LAG = ExportedMetric(
    "groupscope_group_lag_seconds", "How old the oldest message is that the group has not read.", ("group",)
)
GROUP_VERDICT = ExportedMetric(
    "groupscope_group_verdict", "1 for the verdict that the group has, by our rules.", ("group", "verdict")
)
BURROW_VERDICT = ExportedMetric(
    "groupscope_group_burrow_verdict", "1 for the verdict that the group has, by Burrow's rules.", ("group", "verdict")
)
GROUPS_LEFT_OUT = ExportedMetric(
    "groupscope_groups_left_out", "Groups beyond max_prometheus_groups, which are not in this file."
)
SOURCE_AGE = ExportedMetric(
    "groupscope_source_age_seconds", "From the newest record or snapshot to the beginning of the audit."
)
RUN_SECONDS = ExportedMetric("groupscope_run_seconds", "How long the audit took.")
RUN_FINISHED = ExportedMetric("groupscope_run_finished_timestamp_seconds", "When it ended, in seconds since 1970.")
EXIT_CODE = ExportedMetric("groupscope_run_exit_code", "Its exit code: 0 is clean.")

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
