"""Views over the tables: answers that need no further join, worst rows first. One text each, which Spark, Trino and
DuckDB all take: no functions of one engine, every count a BIGINT, the place of NULL in an order said."""

from dataclasses import dataclass

from schemas.declarations.columns import Column
from schemas.views import enumerations
from schemas.views.gate import daily_expectations, gated_commits, spans
from schemas.views.groups import (
    assignment_audit,
    daily_rebalances,
    inventory,
    partition_coverage,
    rebalance_storms,
    rebalances,
    topic_consumers,
)
from schemas.views.log import commit_volume, decode_coverage, offsets_topic, record_headroom
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
            "v_decode_coverage",
            "What of the log could be read: one row per kind of record, value version and outcome, malformed ones "
            "first, then those unknown to this release. Did the broker upgrade change what we can read?",
            decode_coverage.COLUMNS,
            decode_coverage.READS,
            decode_coverage.SQL,
        ),
        View(
            "v_rebalances",
            "Rebalances with cause, who joined and left, what moved and what it cost, costliest first. Why did this "
            "group rebalance?",
            rebalances.REBALANCES_COLUMNS,
            rebalances.REBALANCES_READS,
            rebalances.REBALANCES_SQL,
        ),
        View(
            "v_rebalance_causes",
            "How often each cause set off rebalances of each group and what they cost, costliest first.",
            rebalances.CAUSES_COLUMNS,
            rebalances.CAUSES_READS,
            rebalances.CAUSES_SQL,
        ),
        View(
            "v_rebalance_storms",
            f"Runs of at least {rebalance_storms.FEWEST} rebalances of a group, each within {rebalance_storms.MINUTES} "
            "minutes of the one before, densest first. Which groups had rebalance storms, and who set them off?",
            rebalance_storms.COLUMNS,
            rebalance_storms.READS,
            rebalance_storms.SQL,
        ),
        View(
            "v_assignment_audit",
            "Recorded assignments beside what Kafka's own assignors give, worst first: what differs, by which known "
            "defect, what nobody owns, what moved without need. Does the recorded assignment match what the assignor "
            "should give?",
            assignment_audit.COLUMNS,
            assignment_audit.READS,
            assignment_audit.SQL,
        ),
        View(
            "v_transactions_open",
            "Transactions on offsets without a marker so far, oldest first. Is one hanging, and which groups wait?",
            open_transactions.COLUMNS,
            open_transactions.READS,
            open_transactions.SQL,
        ),
        View(
            "rebalances_daily",
            "Rebalances by day, group and cause, with the metrics of KIP-429 that a log can give, and how good they "
            "are.",
            daily_rebalances.COLUMNS,
            daily_rebalances.READS,
            daily_rebalances.SQL,
        ),
        View(
            "v_group_verdict",
            "The verdict on each group and each of its partitions at the newest measurement, worst first, by our "
            "rules and by Burrow's, since when, and how it changed. Which partitions do not advance, and since when?",
            verdicts.COLUMNS,
            verdicts.READS,
            verdicts.SQL,
        ),
        View(
            "v_offset_resets",
            "Offsets that were moved or removed otherwise than by reading on, costliest first, and who is likely "
            "to have done it. Who or what moved offsets backwards or to the edges?",
            resets.COLUMNS,
            resets.READS,
            resets.SQL,
        ),
        View(
            "v_expiry_forecast",
            "Committed offsets that expire if their groups stay as they are, the next ones first, with what "
            "is at risk. Whose offsets expire before the next run?",
            expiry_forecast.COLUMNS,
            expiry_forecast.READS,
            expiry_forecast.SQL,
        ),
        View(
            "v_commit_volume",
            "How much of each offsets partition each group's commits fill, most bytes first, and what one "
            "commit each 5 s would save. Who fills __consumer_offsets?",
            commit_volume.COLUMNS,
            commit_volume.READS,
            commit_volume.SQL,
        ),
        View(
            "v_offsets_topic_health",
            "What each partition of the offsets topic holds, how much of it is live and what keeps the rest "
            "from being compacted, the longest open transaction first. Is the topic compacting?",
            offsets_topic.COLUMNS,
            offsets_topic.READS,
            offsets_topic.SQL,
        ),
        View(
            "v_inventory",
            "Every group that exists, dead ones first. Which groups can be deleted?",
            inventory.COLUMNS,
            inventory.READS,
            inventory.SQL,
        ),
        View(
            "topic_consumers",
            "Which groups read each topic, with their clients: subscribed, committed or both. Which "
            "applications read this topic?",
            topic_consumers.COLUMNS,
            topic_consumers.READS,
            topic_consumers.SQL,
        ),
        View(
            "partition_coverage",
            "Which partitions of each topic a group reads and which it leaves out, the most left out first; "
            "topics that no group reads have a row without one.",
            partition_coverage.COLUMNS,
            partition_coverage.READS,
            partition_coverage.SQL,
        ),
        View(
            "record_headroom",
            "How near the largest records of each group come to the largest batch that the broker takes, "
            "nearest first.",
            record_headroom.COLUMNS,
            record_headroom.READS,
            record_headroom.SQL,
        ),
        View(
            "v_replay_spans",
            "Messages that were read again or skipped since offsets were moved, by topic and day, most first. "
            "Which data was processed twice, or not at all?",
            replay_spans.COLUMNS,
            replay_spans.READS,
            replay_spans.SQL,
        ),
        View(
            "v_cluster_diff",
            "Offsets of each group on one cluster beside those on every other one in the warehouse, missing "
            "ones and the largest differences first. Did the migration carry the offsets over? Which offset of one "
            "cluster is which of the other is unknown, but where both logs begin and end alike: see `basis`.",
            cluster_diff.COLUMNS,
            cluster_diff.READS,
            cluster_diff.SQL,
        ),
        View(
            "v_gate_spans",
            "Validated spans beside the span before each: gaps, overlaps and their cause, rows expected and written; "
            "failed ones first, then by offsets missed or repeated.",
            spans.COLUMNS,
            spans.READS,
            spans.SQL,
        ),
        View(
            "v_gate_coverage",
            "How much of what each gated group and topic committed had been validated before, the smallest share "
            "first. Was every committed span validated?",
            gated_commits.COVERAGE_COLUMNS,
            gated_commits.COVERAGE_READS,
            gated_commits.COVERAGE_SQL,
        ),
        View(
            "v_ungated_commits",
            "Commits of gated groups of messages that no span covers which had passed before or was let through, most "
            "messages first. Which commits bypassed the gate, and who owned the partition then?",
            gated_commits.UNGATED_COLUMNS,
            gated_commits.UNGATED_READS,
            gated_commits.UNGATED_SQL,
        ),
        View(
            "v_freshness_slo",
            "Time lag of each group and topic by day beside the objective of the settings ([[groups]] "
            "freshness_objective_s), those that missed it first, then the largest 95th percentile. Is the data fresh "
            "enough?",
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
            "How often each expectation of the gate fails, by day, newest first. Does quality drift, and which "
            "expectations are too tight or too loose?",
            daily_expectations.COLUMNS,
            daily_expectations.READS,
            daily_expectations.SQL,
        ),
        View(
            "dim_enum",
            "Every enumerated value, what it means, and the matching state of the client-side assignment proposal.",
            enumerations.COLUMNS,
            enumerations.READS,
            enumerations.SQL,
        ),
    )
}
