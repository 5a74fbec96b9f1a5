"""The view dim_enum: every enumerated value of the tables, what it means, and which state of the client-side assignment
proposal it stands for."""

from collections.abc import Iterable, Iterator, Mapping

from schemas import assignment_words, gate_words, history_words, lag_words, upgrade_words, vocabulary
from schemas.columns import Column, Type
from schemas.meanings import Meant

COLUMNS = (
    Column("table_name", Type.STRING, "The table, view or command that has the value."),
    Column("column_name", Type.STRING, "Its column; of a field within a list: column.field."),
    Column("value", Type.STRING, "The value."),
    Column("meaning", Type.STRING, "What it says."),
    Column(
        "proposal_state",
        Type.STRING,
        "The state of the client-side assignment proposal that it stands for, in classic groups; NULL: none.",
    ),
)
READS: tuple[str, ...] = ()

STATES = ("group_state_intervals", "state")
# Initialize, while a coordinator loads, leaves no record but a higher epoch in coordinator_epochs.
PROPOSAL_STATES: Mapping[tuple[str, str, str], str] = {
    (*STATES, history_words.GroupState.EMPTY): "Stable (no members)",
    (*STATES, history_words.GroupState.STABLE): "Stable (active)",
    (*STATES, history_words.GroupState.PREPARING_REBALANCE): "Joining",
    (*STATES, history_words.GroupState.COMPLETING_REBALANCE): "AwaitingSync",
    ("group_state_intervals", "ended_by", history_words.StateEnd.DELETED): "Down",
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
    (history_words.GroupState, (STATES,)),
    (history_words.StateEnd, (("group_state_intervals", "ended_by"),)),
    (history_words.LeaveKind, (("membership_intervals", "leave_kind"), ("membership_intervals", "ended_by"))),
    (history_words.OwnershipPhase, (("ownership_intervals", "phase"),)),
    (history_words.OwnershipEnd, (("ownership_intervals", "ended_by"),)),
    (history_words.TaskRole, (("ownership_intervals", "role"), ("partition_moves", "role"))),
    (history_words.RebalanceOutcome, (("rebalances", "outcome"),)),
    (history_words.RebalanceTrigger, (("rebalances", "trigger"),)),
    (history_words.RebalanceMode, (("rebalances", "mode"),)),
    (history_words.TimelineKind, ((TIMELINE, "kind"),)),
    (history_words.MemberChange, (("generation_members", "change"),)),
    (history_words.MoveKind, (("partition_moves", "kind"),)),
    (history_words.CommitVia, (("offset_history", "via"),)),
    (history_words.OffsetEnd, (("offset_history", "ended_by"),)),
    (history_words.TransactionOutcome, (("transactions", "outcome"),)),
    (history_words.TopicSource, (("topics", "source"),)),
    (history_words.AnomalyKind, (("replay_anomalies", "kind"),)),
    (
        history_words.Severity,
        (("replay_anomalies", "severity"), ("gate_results", "severity"), ("findings", "severity")),
    ),
    (
        history_words.Confidence,
        tuple(
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
    ),
    (assignment_words.AssignorSource, (("assignment_audit", "assignor_source"),)),
    (assignment_words.Algorithm, (("assignment_audit", "algorithm"),)),
    (assignment_words.Verdict, (("assignment_audit", "verdict"),)),
    (assignment_words.CheckName, (("assignment_audit", "checks.name"),)),
    (assignment_words.PartitionCountsSource, (("assignment_audit", "partition_counts_source"),)),
    (assignment_words.Migration, (("assignor_upgrades", "migration"),)),
    (assignment_words.MigrationPhase, (("assignor_upgrades", "phase"),)),
    (assignment_words.Readiness, (("assignor_upgrades", "readiness"),)),
    (upgrade_words.BlockerKind, (("assignor_upgrades", "blockers.kind"),)),
    (lag_words.TimeLagMethod, (("lag_points", "time_lag_method"), ("lag_days", "time_lag_method"))),
    (lag_words.LagUnknown, (("lag_points", "unknown_reason"),)),
    (lag_words.LagVerdict, (("group_verdicts", "burrow_verdict"), ("group_verdicts", "own_verdict"))),
    (lag_words.BurrowRule, (("group_verdicts", "burrow_rule"),)),
    (lag_words.OwnRule, (("group_verdicts", "rule"),)),
    (lag_words.EtaUnknown, (("consumption_rates", "eta_unknown_reason"),)),
    (lag_words.ResetKind, (("offset_resets", "kind"),)),
    (lag_words.ResetActor, (("offset_resets", "actor"),)),
    (lag_words.CommitFindingKind, (("commit_findings", "kind"),)),
    (lag_words.ExpiryRule, (("expiry_forecast", "rule"), ("v_expiry_forecast", "rule"))),
    (lag_words.SettingsSource, (("expiry_forecast", "settings_source"), ("v_expiry_forecast", "settings_source"))),
    (gate_words.SuiteVerdict, (("gate_runs", "verdict"),)),
    (lag_words.DifferenceBasis, (("v_cluster_diff", "basis"),)),
    (gate_words.SpanVerdict, (("gate_spans", "verdict"),)),
    (gate_words.SpanCause, (("v_gate_spans", "cause"),)),
    (gate_words.FindingKind, (("findings", "kind"),)),
    (vocabulary.GroupType, tuple((table, "group_type") for table in (*OF_GROUPS, *OF_ASSIGNMENTS, *OF_LAG))),
    (vocabulary.MemberState, (("current_member_assignments", "member_state"),)),
    (vocabulary.TopicState, (("group_partition_metadata", "topics.state"),)),
    (vocabulary.RejectReason, (("rejected_records", "reason"), ("v_decode_coverage", "reason"))),
    (vocabulary.Part, (("rejected_records", "part"),)),
    (vocabulary.Marker, (("transaction_markers", "marker"),)),
    (vocabulary.SourceKind, (("source_files", "kind"),)),
    (vocabulary.DecodeOutcome, (("v_decode_coverage", "outcome"),)),
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
        modern = (value for value in vocabulary.GroupType if value is not vocabulary.GroupType.CLASSIC)
        yield from ((table, "group_type", value) for value in modern)
    assigned = (value for value in vocabulary.GroupType if value is not vocabulary.GroupType.STREAMS)
    yield from (("assignment_whatif", "group_protocol", value) for value in assigned)


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def value_rows(found: Iterable[tuple[str, str, Meant]]) -> str:
    """What is none is an empty text until it is read: NULL alone has no type that every engine knows."""
    lines = []
    for table, column, value in found:
        cells = (table, column, value.value, value.meaning, PROPOSAL_STATES.get((table, column, value.value), ""))
        lines.append(f"  ({', '.join(map(literal, cells))})")
    return ",\n".join(lines)


SQL = f"""\
SELECT table_name, column_name, value, meaning, NULLIF(proposal_state, '') AS proposal_state
FROM (VALUES
{value_rows(rows())}
) AS enumerated (table_name, column_name, value, meaning, proposal_state)
ORDER BY table_name, column_name, value
"""
