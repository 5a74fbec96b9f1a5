"""Writes the metrics of the newest audit as a text file for the node exporter's textfile collector."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.output.failure import unwritable
from jobs.runs.result import ms_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.words.gate import ExportedMetric
from schemas.words.lag import WORST_FIRST

PROMETHEUS = "--prometheus"
Row = Mapping[str, Any]
# Values of a metric's labels, and the number.
Sample = tuple[ExportedMetric, tuple[str, ...], float]
# In the value of a label.
ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
# Worst first: by verdict, then by lag.
RANKS: Mapping[str, int] = {verdict: place for place, verdict in enumerate(WORST_FIRST)}
VERDICT_COLUMNS = (
    "as_of_time", "group_id", "partition", "burrow_verdict", "own_verdict", "lag", "time_lag_ms",
)  # fmt: skip


def write_prometheus_file(
    path: Path, result: Row, findings: Sequence[Row], groups: Sequence[Row], newest_ms: int | None, most_groups: int
) -> None:
    """`result`: of the audit. `newest_ms`: the time of the newest record or snapshot; None: there is none.

    A collector sees the file before or the one after, never a part."""
    by_metric: dict[ExportedMetric, list[str]] = defaultdict(list)
    for metric, values, number in samples(result, findings, groups, newest_ms, most_groups):
        by_metric[metric].append(f"{metric}{{{labels(metric, result['cluster'], values)}}} {number:.15g}\n")
    heads = {metric: f"# HELP {metric} {metric.meaning}\n# TYPE {metric} gauge\n" for metric in ExportedMetric}
    try:
        LocalPlace(path).write_whole("".join(head + "".join(by_metric[metric]) for metric, head in heads.items()))
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


def samples(
    result: Row, findings: Sequence[Row], groups: Sequence[Row], newest_ms: int | None, most_groups: int
) -> Iterator[Sample]:
    started, finished = (ms_of(result[name]) for name in ("started_time", "finished_time"))
    counting = [row for row in findings if row["waived_until_time"] is None]
    yield ExportedMetric.EXIT_CODE, (), int(result["exit_code"])
    yield ExportedMetric.RUN_FINISHED, (), finished / 1000
    yield ExportedMetric.RUN_SECONDS, (), (finished - started) / 1000
    if newest_ms is not None:
        yield ExportedMetric.SOURCE_AGE, (), (started - newest_ms) / 1000
    counted = Counter((row["severity"], row["kind"], "true" if row["is_new"] else "false") for row in counting)
    yield from ((ExportedMetric.FINDINGS, key, number) for key, number in sorted(counted.items()))
    yield ExportedMetric.WAIVED, (), len(findings) - len(counting)
    yield ExportedMetric.GROUPS_LEFT_OUT, (), max(len(groups) - most_groups, 0)
    # Group ids are labels, which must not be without bound: these are the worst ones.
    for row in sorted(groups, key=badness)[:most_groups]:
        group = row["group_id"]
        if row["lag"] is not None:
            yield ExportedMetric.GROUP_LAG, (group,), row["lag"]
        if row["time_lag_ms"] is not None:
            yield ExportedMetric.GROUP_TIME_LAG, (group,), row["time_lag_ms"] / 1000
        yield ExportedMetric.GROUP_VERDICT, (group, row["own_verdict"]), 1
        yield ExportedMetric.BURROW_VERDICT, (group, row["burrow_verdict"]), 1


def badness(row: Row) -> tuple[int, int, str]:
    return RANKS[row["own_verdict"]], -(row["lag"] or 0), row["group_id"]


def labels(metric: ExportedMetric, cluster: str, values: Sequence[str]) -> str:
    pairs = zip(("cluster", *metric.labels), (cluster, *values), strict=True)
    return ",".join(f'{name}="{value.translate(ESCAPED)}"' for name, value in pairs)
