"""Views over the tables: answers that need no further join, worst rows first. One text each, which Spark, Trino and
DuckDB all take: no functions of one engine, every count a BIGINT, the place of NULL in an order said."""

from dataclasses import dataclass

from schemas import decode_coverage
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
    )
}
