"""A row of replay_anomalies."""

from schemas.tables.history import REPLAY_ANOMALIES
from schemas.words.history import AnomalyKind, Confidence, Severity
from udfs.groups.history.rows import Row, row_fields
from udfs.groups.readers.records import Moment

ANOMALY = row_fields(
    REPLAY_ANOMALIES,
    "group_id", "kind", "severity", "record_offset", "record_time", "message",
    "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def anomaly_row(
    group_id: str | None, kind: AnomalyKind, severity: Severity, at: Moment, message: str,
    first_offset: int | None = None, confidence: Confidence = Confidence.CERTAIN,
) -> Row:  # fmt: skip
    """`at`: the record at which it shows, with its own time. `first_offset`: where its evidence begins, if earlier."""
    return (
        ANOMALY,
        group_id, kind, severity, at.offset, at.time, message,
        at.offset if first_offset is None else first_offset, at.offset, confidence,
    )  # fmt: skip
