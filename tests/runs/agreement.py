"""Whether a log that came in several runs has the history that one run gives it: every row of every table."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from jobs.replaying.task.replay_messages import Rules
from schemas.tables import TABLES
from schemas.words.records import OFFSETS_TOPIC
from tests.builders.logs.decoded_parts import decoded
from tests.builders.logs.short_logs import ShortLog, short_log
from tests.make.log import T0
from tests.runs.memory_runs import Decoded, MemoryRuns
from udfs.topics.names import Key, Snapshots

LOGS_AT_ONCE = 200


def differences(seeds: Sequence[int], **sizes: int) -> Iterator[tuple[int, dict[str, tuple[list[str], list[str]]]]]:
    """Of each seed whose log does not agree, by table the rows of one run alone, and those of several runs alone."""
    for start in range(0, len(seeds), LOGS_AT_ONCE):
        logs = [short_log(seed, **sizes) for seed in seeds[start : start + LOGS_AT_ONCE]]
        for log, runs in zip(logs, decoded(logs), strict=True):
            result = difference(one_run(log, runs).history(), several_runs(log, runs).history())
            if result:
                yield log.seed, result


def one_run(log: ShortLog, runs: Sequence[Decoded]) -> MemoryRuns:
    result = MemoryRuns()
    for run, tables in enumerate(runs):
        result.ingest(tables, ranges_of(log, run))
    know(result, log, log.num_runs - 1)
    result.replay()
    return result


def several_runs(log: ShortLog, runs: Sequence[Decoded]) -> MemoryRuns:
    result = MemoryRuns()
    for run, tables in enumerate(runs):
        result.ingest(tables, ranges_of(log, run))
        know(result, log, run)
        result.replay()
    return result


def ranges_of(log: ShortLog, run: int) -> list[tuple[int, int]]:
    return [(part.first, part.last) for part in log.of_run(run)]


def know(runs: MemoryRuns, log: ShortLog, run: int) -> None:
    if log.snapshots_from is not None and run >= log.snapshots_from:
        runs.snapshots = snapshots_of(log)
    deletions = tuple(runs.snapshots.deletions())
    runs.rules = Rules(log.retention_ms, log.num_offsets_partitions, deletions)
    runs.num_slices = log.num_slices


def snapshots_of(log: ShortLog) -> Snapshots:
    """A first one of all topics, a later one of all but one."""
    own: dict[Key, int] = {(OFFSETS_TOPIC, None): 50}
    every = own | {(name, topic_id): number for name, (topic_id, number) in log.topics.items()}
    fewer = own | dict(list(every.items())[1:2])
    return Snapshots({T0 * 1000: every, (T0 + 4_000) * 1000: fewer})


def difference(one: Mapping[str, pa.Table], other: Mapping[str, pa.Table]) -> dict[str, tuple[list[str], list[str]]]:
    result = {}
    for name, rows in one.items():
        if not are_equal(name, rows, other[name]):
            first, second = texts(rows), texts(other[name])
            if first != second:
                result[name] = (
                    [row for row in first if row not in second],
                    [row for row in second if row not in first],
                )
    return result


def are_equal(name: str, one: pa.Table, other: pa.Table) -> bool:
    if one.num_rows != other.num_rows:
        return False
    order = [(column, "ascending") for column in TABLES[name].key]
    return bool(one.sort_by(order).equals(other.sort_by(order)))


def texts(rows: pa.Table) -> list[str]:
    return sorted(map(repr, rows.to_pylist()))
