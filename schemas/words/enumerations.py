"""The view dim_enum: every enumerated value of the tables, what it means, and which state of the client-side assignment
proposal it is about."""

from collections.abc import Iterator, Mapping

from schemas.words import assignments, client_libraries, gate, history, lag, records
from schemas.words.meanings import Meant

STATES = ("group_state_intervals", "state")
# Initialize, while a coordinator loads, leaves no record but a higher epoch in coordinator_epochs.
PROPOSAL_STATES: Mapping[tuple[str, str, str], str] = {
    (*STATES, history.GroupState.EMPTY): "Stable (no members)",
    (*STATES, history.GroupState.STABLE): "Stable (active)",
    (*STATES, history.GroupState.PREPARING_REBALANCE): "Joining",
    (*STATES, history.GroupState.COMPLETING_REBALANCE): "AwaitingSync",
    ("group_state_intervals", "ended_by", history.StateEnd.DELETED): "Down",
}
HISTORY = (
    "group_state_intervals", "membership_intervals", "ownership_intervals", "rebalances", "generation_members",
    "partition_moves", "offset_history", "transactions", "topics", "coordinator_epochs", "history_coverage",
)  # fmt: skip
OF_GROUPS = HISTORY[:6]
# A command whose lines are rows of no table.
TIMELINE = "groupscope rebalances"
OF_ASSIGNMENTS = ("assignment_audit", "assignment_whatif", "assignor_upgrades")
OF_LAG = (
    "lag_points", "lag_days", "lag_minutes", "consumption_rates", "group_verdicts", "offset_resets", "commit_findings",
    "expiry_forecast",
)  # fmt: skip
# Tables of one column each, by the values that it takes.
USES: tuple[tuple[type[Meant], tuple[tuple[str, str], ...]], ...] = (
    (history.GroupState, (STATES,)),
    (history.StateEnd, (("group_state_intervals", "ended_by"),)),
    (history.LeaveKind, (("membership_intervals", "leave_kind"), ("membership_intervals", "ended_by"))),
    (client_libraries.ClientLibrary, (("membership_intervals", "client_library"),)),
    (history.OwnershipPhase, (("ownership_intervals", "phase"),)),
    (history.OwnershipEnd, (("ownership_intervals", "ended_by"),)),
    (history.TaskRole, (("ownership_intervals", "role"), ("partition_moves", "role"))),
    (history.RebalanceOutcome, (("rebalances", "outcome"),)),
    (history.RebalanceTrigger, (("rebalances", "trigger"),)),
    (history.RebalanceMode, (("rebalances", "mode"),)),
    (history.TimelineKind, ((TIMELINE, "kind"),)),
    (history.StormKind, (("v_rebalance_storms", "kind"),)),
    (history.FailureCase, (("v_failovers", "failure_case"),)),
    (history.MemberChange, (("generation_members", "change"),)),
    (history.MoveKind, (("partition_moves", "kind"),)),
    (history.CommitVia, (("offset_history", "via"),)),
    (history.OffsetEnd, (("offset_history", "ended_by"),)),
    (history.TransactionOutcome, (("transactions", "outcome"),)),
    (history.TopicSource, (("topics", "source"),)),
    (history.AnomalyKind, (("replay_anomalies", "kind"),)),
    (
        history.Severity,
        (("replay_anomalies", "severity"), ("gate_results", "severity"), ("findings", "severity")),
    ),
    (
        history.Confidence,
        (
            *(
                (table, "confidence")
                for table in (
                    *OF_GROUPS,
                    "offset_history",
                    "transactions",
                    "replay_anomalies",
                    *OF_ASSIGNMENTS,
                    *OF_LAG,
                    "findings",
                )
            ),
            ("membership_intervals", "client_library_confidence"),
            ("v_failovers", "failure_case_confidence"),
        ),
    ),
    (assignments.AssignorSource, (("assignment_audit", "assignor_source"),)),
    (assignments.Algorithm, (("assignment_audit", "algorithm"),)),
    (assignments.Verdict, (("assignment_audit", "verdict"),)),
    (assignments.AuditReason, (("assignment_audit", "reason"),)),
    (assignments.CheckName, (("assignment_audit", "checks.name"),)),
    (assignments.PartitionCountsSource, (("assignment_audit", "partition_counts_source"),)),
    (assignments.Migration, (("assignor_upgrades", "migration"),)),
    (assignments.MigrationPhase, (("assignor_upgrades", "phase"),)),
    (assignments.Readiness, (("assignor_upgrades", "readiness"),)),
    (assignments.BlockerKind, (("assignor_upgrades", "blockers.kind"),)),
    (lag.TimeLagMethod, (("lag_points", "time_lag_method"), ("lag_days", "time_lag_method"))),
    (lag.LagUnknown, (("lag_points", "unknown_reason"),)),
    (lag.LagVerdict, (("group_verdicts", "burrow_verdict"), ("group_verdicts", "own_verdict"))),
    (lag.BurrowRule, (("group_verdicts", "burrow_rule"),)),
    (lag.OwnRule, (("group_verdicts", "rule"),)),
    (lag.EtaUnknown, (("consumption_rates", "eta_unknown_reason"),)),
    (lag.ResetKind, (("offset_resets", "kind"),)),
    (lag.ResetActor, (("offset_resets", "actor"),)),
    (lag.CommitFindingKind, (("commit_findings", "kind"),)),
    (lag.ExpiryRule, (("expiry_forecast", "rule"), ("v_expiry_forecast", "rule"))),
    (
        lag.SettingsSource,
        tuple((table, "settings_source") for table in ("expiry_forecast", "v_expiry_forecast", "record_headroom")),
    ),
    (gate.SuiteVerdict, (("gate_runs", "verdict"),)),
    (lag.DifferenceBasis, (("v_cluster_diff", "basis"),)),
    (gate.SpanVerdict, (("gate_spans", "verdict"),)),
    (gate.SpanCause, (("v_gate_spans", "cause"),)),
    (gate.FindingKind, (("findings", "kind"),)),
    (records.GroupType, tuple((table, "group_type") for table in (*OF_GROUPS, *OF_ASSIGNMENTS, *OF_LAG))),
    (records.MemberState, (("current_member_assignments", "member_state"),)),
    (records.TopicState, (("group_partition_metadata", "topics.state"),)),
    (records.RejectReason, (("rejected_records", "reason"), ("v_decode_coverage", "reason"))),
    (records.Part, (("rejected_records", "part"),)),
    (records.Marker, (("transaction_markers", "marker"),)),
    (records.SourceKind, (("source_files", "kind"),)),
    (records.DecodeOutcome, (("v_decode_coverage", "outcome"),)),
    (records.PartitionReading, (("offsets_partitions", "reading"),)),
    (records.NumPartitionsSource, (("offsets_partitions", "partitions_source"),)),
    (records.EarlyEnd, (("offsets_partitions", "early_end"),)),
)
MODERN_TABLES = (
    "group_metadata", "group_member_metadata", "target_assignment_metadata", "target_assignment_members",
    "current_member_assignments", "group_partition_metadata",
)  # fmt: skip


def rows() -> Iterator[tuple[str, str, Meant]]:
    for enumeration, places in USES:
        for table, column in places:
            yield from ((table, column, value) for value in enumeration)
    for table in MODERN_TABLES:
        modern = (value for value in records.GroupType if value is not records.GroupType.CLASSIC)
        yield from ((table, "group_type", value) for value in modern)
    assigned = (value for value in records.GroupType if value is not records.GroupType.STREAMS)
    yield from (("assignment_whatif", "group_protocol", value) for value in assigned)


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def value_rows() -> str:
    """What is none is an empty text until it is read: NULL alone has no type that every engine knows."""
    lines = []
    for table, column, value in rows():
        cells = (table, column, value.value, value.meaning, PROPOSAL_STATES.get((table, column, value.value), ""))
        lines.append(f"  ({', '.join(map(literal, cells))})")
    return ",\n".join(lines)
