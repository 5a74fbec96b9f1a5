"""Views over the tables: answers that need no further join, worst rows first. One text each, which Spark, Trino and
DuckDB all take: no functions of one engine, every count a BIGINT, the place of NULL in an order said."""

from dataclasses import dataclass

from schemas.tables import Column
from schemas.views import enumerations
from schemas.views.gate import daily_expectations, gated_commits, spans, standing_findings
from schemas.views.groups import (
    assignment_audit,
    daily_rebalances,
    inventory,
    partition_coverage,
    present_lag,
    rebalance_storms,
    rebalances,
    topic_consumers,
)
from schemas.views.log import commit_volume, decode_coverage, failovers, offsets_topic, record_headroom
from schemas.views.offsets import (
    cluster_diff,
    daily_lag,
    expiry_forecast,
    open_transactions,
    replay_spans,
    resets,
    verdicts,
)


@dataclass(frozen=True, slots=True)
class View:
    """`reads` are the tables and views that the text names; `columns` are those of its result, in order."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    reads: tuple[str, ...]
    sql: str


VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        View(
            "v_groups_now",
            "Each group as of the newest audit, the worst first: its verdict and why, since when, messages that wait, "
            "and its last rebalance. `groupscope status` shows it. Which groups are not well now?",
            present_lag.GROUPS_COLUMNS,
            present_lag.GROUPS_READS,
            present_lag.GROUPS_SQL,
        ),
        View(
            "v_lag_now",
            "Each partition of each group as of the newest audit, the worst first: committed offset, end of the log, "
            "lag, owner and verdict. `groupscope status GROUP` shows it. Which partitions wait, and who owns them?",
            present_lag.LAG_COLUMNS,
            present_lag.LAG_READS,
            present_lag.LAG_SQL,
        ),
        View(
            "v_decode_coverage",
            "How many records of the log could be decoded: a row for each record type, value version and outcome. "
            "Malformed records are first, then types and versions that this release of Groupscope does not know. Did "
            "a broker upgrade change what can be read?",
            decode_coverage.COLUMNS,
            decode_coverage.READS,
            decode_coverage.SQL,
        ),
        View(
            "v_rebalances",
            "Rebalances: trigger, who joined and left, what moved, and how long partitions were unread, the longest "
            "first. Why did this group rebalance?",
            rebalances.REBALANCES_COLUMNS,
            rebalances.REBALANCES_READS,
            rebalances.REBALANCES_SQL,
        ),
        View(
            "v_rebalance_causes",
            "How often each trigger caused rebalances of each group, and how long partitions were unread, the longest "
            "first.",
            rebalances.CAUSES_COLUMNS,
            rebalances.CAUSES_READS,
            rebalances.CAUSES_SQL,
        ),
        View(
            "v_rebalance_storms",
            "Many rebalances of a group in a row: storm_rebalances or more, each within storm_gap_s after the previous "
            "one began, by [gate] of the settings that the newest run of `groupscope gate` used. Storms are first, "
            "those with the most generations per hour before others, then restarts and upgrades of members, one after "
            "the other. Which groups had storms, and whose members caused them?",
            rebalance_storms.COLUMNS,
            rebalance_storms.READS,
            rebalance_storms.SQL,
        ),
        View(
            "v_assignment_audit",
            "Recorded assignments compared with those of Kafka's own assignors, worst first: differences, known "
            "defects, partitions without an owner, unneeded moves. Does the recorded assignment match what the "
            "assignor should give?",
            assignment_audit.COLUMNS,
            assignment_audit.READS,
            assignment_audit.SQL,
        ),
        View(
            "v_transactions_open",
            "Transactions that committed offsets and have no marker yet, oldest first. Is one hanging, and which "
            "groups wait for it?",
            open_transactions.COLUMNS,
            open_transactions.READS,
            open_transactions.SQL,
        ),
        View(
            "rebalances_daily",
            "Rebalances by day, group and trigger, with the metrics of KIP-429 that a log can show. Comments say "
            "whether a number is exact, likely or a bound.",
            daily_rebalances.COLUMNS,
            daily_rebalances.READS,
            daily_rebalances.SQL,
        ),
        View(
            "v_group_verdict",
            "The lag verdict on each group and partition at the newest as-of time, worst first: by the rules of "
            "Groupscope and of Burrow, since when, and how often it changed. Which partitions do not advance, and "
            "since when?",
            verdicts.COLUMNS,
            verdicts.READS,
            verdicts.SQL,
        ),
        View(
            "v_offset_resets",
            "Resets: committed offsets that were moved or removed in another way than by reading messages, those with "
            "the most messages first, and who is likely to have done it. Who or what moved offsets back, or to an "
            "end of the log?",
            resets.COLUMNS,
            resets.READS,
            resets.SQL,
        ),
        View(
            "v_expiry_forecast",
            "Committed offsets that expire if their groups stay as they are, the soonest first, with the messages at "
            "risk. Whose offsets expire before the next run?",
            expiry_forecast.COLUMNS,
            expiry_forecast.READS,
            expiry_forecast.SQL,
        ),
        View(
            "v_commit_volume",
            "How many records and bytes of each offsets partition the commits of each group take, most bytes first, "
            "and what committing every 5 s would save. Who fills __consumer_offsets?",
            commit_volume.COLUMNS,
            commit_volume.READS,
            commit_volume.SQL,
        ),
        View(
            "v_offsets_topic_health",
            "Each partition of the offsets topic: its records, how many of its commits are live, and whether an open "
            "transaction prevents compaction of the rest. Partitions with the longest open transaction are first. Is "
            "the topic compacted?",
            offsets_topic.COLUMNS,
            offsets_topic.READS,
            offsets_topic.SQL,
        ),
        View(
            "v_failovers",
            "Each change of the coordinator of an offsets partition, those that lost the most first: when, which "
            "brokers, how long nothing was written, which records the new coordinator did not get, and what groups "
            "were doing. What did the failure of a broker cost?",
            failovers.COLUMNS,
            failovers.READS,
            failovers.SQL,
        ),
        View(
            "v_inventory",
            "Every group that exists, first those that are not in use (is_dead). Which groups can be deleted?",
            inventory.COLUMNS,
            inventory.READS,
            inventory.SQL,
        ),
        View(
            "topic_consumers",
            "Which groups read each topic, with their clients: by subscription, by commits or both. Which "
            "applications read this topic?",
            topic_consumers.COLUMNS,
            topic_consumers.READS,
            topic_consumers.SQL,
        ),
        View(
            "partition_coverage",
            "Which partitions of each topic a group reads and which it leaves out, the most left out first. A topic "
            "that no group reads has one row, with group_id NULL.",
            partition_coverage.COLUMNS,
            partition_coverage.READS,
            partition_coverage.SQL,
        ),
        View(
            "record_headroom",
            "How large the records of each group are, compared with the largest batch that the broker accepts, "
            "largest first. Which groups will soon be too large?",
            record_headroom.COLUMNS,
            record_headroom.READS,
            record_headroom.SQL,
        ),
        View(
            "v_replay_spans",
            "Messages that are read again or skipped because offsets were moved, by topic and day, most messages "
            "first. Which data was processed twice, or not at all?",
            replay_spans.COLUMNS,
            replay_spans.READS,
            replay_spans.SQL,
        ),
        View(
            "v_cluster_diff",
            "Committed offsets of each group on one cluster and on another, for all pairs of clusters in the "
            "warehouse: missing offsets first, then the largest differences. Did the migration copy the offsets? "
            "Equal offsets are equal messages only if both logs begin and end at the same offsets: see `basis`.",
            cluster_diff.COLUMNS,
            cluster_diff.READS,
            cluster_diff.SQL,
        ),
        View(
            "v_findings",
            "The findings of the newest whole run of the gate, worst first, each with its age and whether it is new. A "
            "run that --group, --exclude-group, --since or --until narrowed is never a whole one: its findings are "
            "shown only while a cluster has no whole run, with what narrowed it. What is wrong now, and since when?",
            standing_findings.COLUMNS,
            standing_findings.READS,
            standing_findings.SQL,
        ),
        View(
            "v_gate_spans",
            "Validated spans: gaps before them that no span covers, overlaps with the previous span, the causes, and "
            "rows expected and written. Failed spans are first, then those with the largest gap or overlap.",
            spans.COLUMNS,
            spans.READS,
            spans.SQL,
        ),
        View(
            "v_gate_coverage",
            "Which share of the committed messages of each gated group and topic had been validated before the "
            "commit, the smallest share first. Was every committed span validated?",
            gated_commits.COVERAGE_COLUMNS,
            gated_commits.COVERAGE_READS,
            gated_commits.COVERAGE_SQL,
        ),
        View(
            "v_ungated_commits",
            "Commits of gated groups with messages that no span covered, or none that had passed or was overridden "
            "before the commit. Commits with the most such messages are first. Which commits bypassed the gate, and "
            "who owned the partition at that time?",
            gated_commits.UNGATED_COLUMNS,
            gated_commits.UNGATED_READS,
            gated_commits.UNGATED_SQL,
        ),
        View(
            "v_freshness_slo",
            "Time lag of each group and topic by day, compared with the objective (freshness_objective_s in "
            "[[groups]] of the settings). Missed objectives are first, then the largest 95th percentiles. Is the data "
            "fresh enough?",
            daily_lag.FRESHNESS_COLUMNS,
            daily_lag.FRESHNESS_READS,
            daily_lag.FRESHNESS_SQL,
        ),
        View(
            "lag_daily",
            "Lag of each group and topic by day, in messages and in time, newest day first.",
            daily_lag.LAG_COLUMNS,
            daily_lag.LAG_READS,
            daily_lag.LAG_SQL,
        ),
        View(
            "expectation_daily",
            "How often each expectation of the gate fails, by day, newest first. Does the quality change, and which "
            "expectations are too strict or too loose?",
            daily_expectations.COLUMNS,
            daily_expectations.READS,
            daily_expectations.SQL,
        ),
        View(
            "dim_enum",
            "All values of columns with fixed values, in tables, views and commands, and what each value means.",
            enumerations.COLUMNS,
            enumerations.READS,
            enumerations.SQL,
        ),
    )
}
