"""Writes the metrics of the newest audit as a text file for the node exporter's textfile collector."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.configuration.settings import Settings
from jobs.output.failure import unwritable
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.words.gate import ExportedMetric
from schemas.words.lag import WORST_FIRST

PROMETHEUS = "--prometheus"
Row = Mapping[str, Any]
Samples = dict[ExportedMetric, list[tuple[tuple[str, ...], float]]]
# Worst first: by verdict, then by lag.
RANKS: Mapping[str, int] = {verdict: place for place, verdict in enumerate(WORST_FIRST)}
VERDICT_COLUMNS = (
    "as_of_time", "group_id", "partition", "burrow_verdict", "own_verdict", "lag", "time_lag_ms",
)  # fmt: skip


@dataclass(frozen=True)
class AuditSummary:
    """`newest_ms`: of the newest record or snapshot; None: there is none. Times are epoch milliseconds."""

    cluster: str
    exit_code: int
    started_ms: int
    finished_ms: int
    newest_ms: int | None
    findings: Sequence[Row]
    groups: Sequence[Row]


def write_prometheus_file(path: Path, audited: AuditSummary, settings: Settings) -> None:
    """A collector sees the file before or the one after, never a part."""
    try:
        LocalPlace(path).write_whole("".join(lines(audited, settings.gate.max_prometheus_groups)))
    except OSError as error:
        raise unwritable(PROMETHEUS, path, error) from None


def group_verdicts_at(warehouse: Warehouse, cluster: str, as_of: datetime) -> list[dict[str, Any]]:
    """The newest ones up to this time: a run may be about an earlier time than the run before."""
    rows = warehouse.rows("group_verdicts", VERDICT_COLUMNS, cluster)
    if rows is None:
        return []
    times = rows.column("as_of_time")
    known = rows.filter(pc.and_(rows.column("partition").is_null(), pc.less_equal(times, pa.scalar(as_of, times.type))))
    chosen: pa.Table = known.filter(pc.equal(known.column("as_of_time"), pc.max(known.column("as_of_time"))))
    return list(chosen.to_pylist())


def lines(audited: AuditSummary, most_groups: int) -> Iterator[str]:
    by_metric = samples(audited, most_groups)
    for metric in ExportedMetric:
        yield f"# HELP {metric} {metric.meaning}\n# TYPE {metric} gauge\n"
        for values, number in by_metric.get(metric, ()):
            yield f"{metric}{{{labels(metric, audited.cluster, values)}}} {number:.15g}\n"


def samples(audited: AuditSummary, most_groups: int) -> Samples:
    ordered = sorted(audited.groups, key=badness)
    counted = Counter(
        (row["severity"], row["kind"], "true" if row["is_new"] else "false")
        for row in audited.findings
        if row["waived_until_time"] is None
    )
    waived = sum(row["waived_until_time"] is not None for row in audited.findings)
    by_metric: Samples = {
        ExportedMetric.EXIT_CODE: [((), audited.exit_code)],
        ExportedMetric.RUN_FINISHED: [((), audited.finished_ms / 1000)],
        ExportedMetric.RUN_SECONDS: [((), (audited.finished_ms - audited.started_ms) / 1000)],
        ExportedMetric.FINDINGS: [(key, number) for key, number in sorted(counted.items())],
        ExportedMetric.WAIVED: [((), waived)],
        ExportedMetric.GROUPS_LEFT_OUT: [((), max(len(ordered) - most_groups, 0))],
        **of_groups(ordered[:most_groups]),
    }
    if audited.newest_ms is not None:
        by_metric[ExportedMetric.SOURCE_AGE] = [((), (audited.started_ms - audited.newest_ms) / 1000)]
    return by_metric


def badness(row: Row) -> tuple[int, int, str]:
    return RANKS[row["own_verdict"]], -(row["lag"] or 0), row["group_id"]


def of_groups(rows: Sequence[Row]) -> Samples:
    """Group ids are labels, which must not be without bound: these are the worst ones."""
    known = [(ExportedMetric.GROUP_LAG, "lag", 1), (ExportedMetric.GROUP_TIME_LAG, "time_lag_ms", 1000)]
    lags: Samples = {
        metric: [((row["group_id"],), row[column] / unit) for row in rows if row[column] is not None]
        for metric, column, unit in known
    }
    verdicts = [(ExportedMetric.GROUP_VERDICT, "own_verdict"), (ExportedMetric.BURROW_VERDICT, "burrow_verdict")]
    return lags | {metric: [((row["group_id"], row[column]), 1.0) for row in rows] for metric, column in verdicts}


def labels(metric: ExportedMetric, cluster: str, values: Sequence[str]) -> str:
    pairs = zip(("cluster", *metric.labels), (cluster, *values), strict=True)
    return ",".join(f'{name}="{escape_label(value)}"' for name, value in pairs)


def escape_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
