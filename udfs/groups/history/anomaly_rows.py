"""A row of replay_anomalies."""

from schemas.words.history import AnomalyKind, Confidence, Severity
from udfs.groups.history.row_makers import REPLAY_ANOMALY
from udfs.groups.history.rows import Row
from udfs.groups.readers.records import Moment


def anomaly_row(
    group_id: str | None, kind: AnomalyKind, severity: Severity, at: Moment, message: str,
    first_offset: int | None = None, confidence: Confidence = Confidence.CERTAIN,
) -> Row:  # fmt: skip
    """`at`: the record at which it shows, with its own time. `first_offset`: where its evidence begins, if earlier."""
    return REPLAY_ANOMALY(
        group_id=group_id, kind=kind, severity=severity, record_offset=at.offset, record_time=at.time,
        message=message, evidence_first_offset=at.offset if first_offset is None else first_offset,
        evidence_last_offset=at.offset, confidence=confidence,
    )  # fmt: skip
