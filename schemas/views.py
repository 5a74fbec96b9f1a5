"""Views over the tables: answers that need no further join, worst rows first. One text each, which Spark, Trino and
DuckDB all take: no functions of one engine, every count a BIGINT, the place of NULL in an order said."""

from dataclasses import dataclass

from schemas import (
    assignment_view,
    daily_rebalances,
    decode_coverage,
    enumerations,
    open_transactions,
    rebalance_views,
    storm_view,
)
from schemas.columns import Column


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
            "Rebalances with cause, who came and went, what moved and what it cost, costliest first. Why did this "
            "group rebalance?",
            rebalance_views.REBALANCES_COLUMNS,
            rebalance_views.REBALANCES_READS,
            rebalance_views.REBALANCES_SQL,
        ),
        View(
            "v_rebalance_causes",
            "How often each cause set off rebalances of each group and what they cost, costliest first.",
            rebalance_views.CAUSES_COLUMNS,
            rebalance_views.CAUSES_READS,
            rebalance_views.CAUSES_SQL,
        ),
        View(
            "v_rebalance_storms",
            f"Runs of at least {storm_view.FEWEST} rebalances of a group, each within {storm_view.MINUTES} minutes of "
            "the one before, densest first. Which groups had rebalance storms, and who set them off?",
            storm_view.COLUMNS,
            storm_view.READS,
            storm_view.SQL,
        ),
        View(
            "v_assignment_audit",
            "Recorded assignments beside what Kafka's own assignors give, worst first: what differs, by which known "
            "defect, what nobody owns, what moved without need. Does the recorded assignment match what the assignor "
            "should give?",
            assignment_view.COLUMNS,
            assignment_view.READS,
            assignment_view.SQL,
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
            "dim_enum",
            "Every enumerated value, what it means, and the state of the client-side assignment proposal behind it.",
            enumerations.COLUMNS,
            enumerations.READS,
            enumerations.SQL,
        ),
    )
}
