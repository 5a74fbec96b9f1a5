"""Measures one task's partition or slice: lag, rates, verdicts and events of its groups, continuing from earlier
runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from jobs.measuring.partition_rows import Since, history_rows, raw_commits, snapshots_of
from jobs.measuring.task_messages import MeasuringInput, Progress
from jobs.replaying.log.files import Opened, Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice
from schemas.contract.tables import TABLES
from schemas.tables.events import COMMIT_FINDINGS, COMMIT_VOLUME, EXPIRY_FORECAST, OFFSET_RESETS
from schemas.tables.lag import CONSUMPTION_RATES, GROUP_VERDICTS, LAG_DAYS, LAG_MINUTES, LAG_POINTS
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Numbers, numbers
from udfs.lag.partition_history import READ, PartitionHistory, named_topics, only
from udfs.lag.points import lag_point_pieces
from udfs.lag.rates import rate_rows
from udfs.lag.sums import DAY, MINUTE, LagSums, Sums
from udfs.lag.texts import KIND, same
from udfs.log.leader_epochs import Epoch, LeaderEpochs
from udfs.rules.expiry import expiry_rows
from udfs.rules.findings.commit_findings import commit_finding_rows
from udfs.rules.offset_resets.find_resets import reset_rows
from udfs.rules.verdicts.burrow_windows import SECOND
from udfs.rules.verdicts.group_verdicts import verdict_rows
from udfs.rules.volume import volume_rows

HOUR = 3_600_000_000
# How far back our verdicts look at history. Burrow's look at raw commits, as far back as expire-group.
HISTORY_NEEDED = DAY
# Small tables of which old rows count too: since when the log is known, and the last known type of a group.
WHOLE = ("history_coverage", "group_state_intervals")
# For tables with rows about times: the records that begin and end a row, and their times.
TOLD = (
    ("from_offset", "from_time"),
    ("to_offset", "to_time"),
    ("assignment_offset", "start_time"),
    ("record_offset", "record_time"),
)

NOTHING = -1

# The time at which each row is over.
Over = Callable[[pa.Table], Numbers]


@dataclass(frozen=True)
class Measure:
    """Makes rows of a table about times from `settled_from` on. `over`: when a row is over; None: the table has no rows
    that stay unchanged."""

    table: str
    make: Callable[[PartitionHistory, int | None], pa.Table]
    over: Over | None


def after(column: str) -> Over:
    """More may come with exactly the same time."""
    return lambda rows: numbers(rows.column(column)) + 1


def bucket_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("bucket_time")) + numbers(rows.column("bucket_ms")) * 1000


def hour_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("hour_time")) + HOUR


def day_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("day_time")) + DAY


def minute_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("minute_time")) + MINUTE


SNAPSHOT_OVER = after("snapshot_time")
MEASURES = (
    Measure(CONSUMPTION_RATES.name, rate_rows, bucket_end),
    Measure(OFFSET_RESETS.name, reset_rows, after("at_time")),
    Measure(COMMIT_FINDINGS.name, commit_finding_rows, day_end),
    Measure(COMMIT_VOLUME.name, volume_rows, hour_end),
    Measure(EXPIRY_FORECAST.name, lambda history, _: expiry_rows(history), None),
)


def measure_share(
    brief: MeasuringInput, share: PartitionSlice, files: HistoryFiles, opened: Opened, into: LogTaskResult[Progress]
) -> None:
    earlier = brief.earlier.get(share.partition)
    history = history_of(brief, share, opened, earlier)
    if earlier is not None and reaches_back(history, earlier):
        # All slices must begin at the same offset.
        into.insufficient.append(share.partition)
        return
    if earlier is None:
        into.whole.append(share.partition)
    settled_from = None if earlier is None else earlier.settled_time
    settled_to = brief.settled_time(share.partition)
    write_points(history, settled_from, settled_to, files, brief.cluster)
    for measure in (*MEASURES, verdict_measure(brief)):
        rows = measure.make(history, settled_from)
        if rows.num_rows:
            made = complete_rows(measure.table, measure.over, rows, brief.cluster, settled_to)
            files.write(measure.table, made, share.partition)
    into.num_records += history.commits.num_rows
    into.num_groups += len(history.table("offset_history").column("group_id").unique())
    into.progress.append(progress_after(brief, share.partition))


def verdict_measure(brief: MeasuringInput) -> Measure:
    """By the rules in the run's settings."""
    return Measure(
        GROUP_VERDICTS.name,
        lambda history, _: verdict_rows(history, brief.burrow, brief.verdicts, brief.objectives),
        None,
    )


def write_points(
    history: PartitionHistory, settled_from: int | None, settled_to: int | None, files: HistoryFiles, cluster: str
) -> None:
    """These are by far the most rows: written in pieces, already in the table's order. Sums are of whole days, so
    points of the first day are computed again, but not written again."""
    sums = LagSums(history.offsets_partition, settled_to)
    for rows in lag_point_pieces(*days_from(history, settled_from), settled_to):
        for each in sums.take(rows):
            write_sums(each, settled_from, settled_to, files, cluster)
        made = complete_rows(
            LAG_POINTS.name, SNAPSHOT_OVER, since(rows, SNAPSHOT_OVER, settled_from), cluster, settled_to
        )
        # If only the id of a topic is known, its position in the order is unknown.
        is_ordered = not rows.column("topic").null_count
        files.write(LAG_POINTS.name, made, history.offsets_partition, is_ordered=is_ordered)
    for each in sums.remaining():
        write_sums(each, settled_from, settled_to, files, cluster)


def write_sums(sums: Sums, settled_from: int | None, settled_to: int | None, files: HistoryFiles, cluster: str) -> None:
    for table, rows, over in ((LAG_DAYS, sums.days, day_end), (LAG_MINUTES, sums.minutes, minute_end)):
        made = complete_rows(table.name, over, since(rows, over, settled_from), cluster, settled_to)
        files.write(table.name, made, sums.offsets_partition)


def days_from(history: PartitionHistory, settled_from: int | None) -> tuple[PartitionHistory, int | None]:
    """With the beginning of the first day and all of its settled points, also those after the as-of time."""
    if settled_from is None:
        return history, None
    whole = replace(history, as_of_time=max(history.as_of_time, settled_from - 1))
    return whole, settled_from // DAY * DAY


def since(rows: pa.Table, over_at: Over, settled_from: int | None) -> pa.Table:
    """Rows that were not settled before."""
    return rows if settled_from is None else only(rows, over_at(rows) > settled_from)


def history_of(
    brief: MeasuringInput, share: PartitionSlice, opened: Opened, earlier: Progress | None
) -> PartitionHistory:
    wanted, groups = Wanted(brief.cluster, share.partition), Slice(share.number, share.num_slices)
    settled = None if earlier is None else earlier.settled_time
    from_time, commits_from = needed_from(settled, brief.as_of_time, brief.burrow.expire_group_s * SECOND)
    through = None if earlier is None else earlier.through_offset
    needed = None if commits_from is None else Since(commits_from, NOTHING if through is None else through)
    epochs = LeaderEpochs({number: Epoch(first) for number, first in brief.replayed[share.partition].begins.items()})
    tables = {
        name: history_rows(name, brief.files.get(name, ()), wanted, groups, None if name in WHOLE else from_time)
        for name in READ
    }
    commits, doubtful = raw_commits(brief.files.get("offset_commits", ()), wanted, opened, epochs, groups, needed)
    marks = snapshots_of(tuple(brief.snapshots), brief.cluster).of_topics(named_topics(tables, commits))
    return PartitionHistory(
        offsets_partition=share.partition,
        tables=tables,
        commits=commits,
        watermarks=marks,
        as_of_time=brief.as_of_time,
        broker=brief.broker,
        doubtful=doubtful,
    )


def needed_from(settled: int | None, as_of: int, commits_needed: int) -> tuple[int | None, int | None]:
    """From when on history and raw commits are read; None: from the beginning."""
    if settled is None:
        return None, None
    # A row is about one day at most, and depends on the hour before it.
    begun = settled // DAY * DAY - HOUR
    return min(begun, as_of - HISTORY_NEEDED), min(begun, as_of - commits_needed)


def reaches_back(history: PartitionHistory, earlier: Progress) -> bool:
    """Whether new records are about a settled time, for example by a rebalance, which begins before its record is
    written, or after a broker's clock went back."""
    through, settled = earlier.through_offset, earlier.settled_time
    if through is None or settled is None:
        return False
    # While a clock is wrong, each new record may put more of the earlier times in doubt.
    if any(each.begin < settled and each.last_offset > through for each in history.doubtful.doubts):
        return True
    return any(is_told_late(rows, through, settled) for rows in (*history.tables.values(), history.commits))


def is_told_late(rows: pa.Table, through: int, settled: int) -> bool:
    for offset, time in TOLD:
        if {offset, time} <= {*rows.column_names}:
            at = numbers(rows.column(time))
            if bool(((numbers(rows.column(offset)) > through) & (at < settled) & (at != NONE)).any()):
                return True
    return False


def complete_rows(table: str, over_at: Over | None, rows: pa.Table, cluster: str, settled_to: int | None) -> pa.Table:
    """Adds the cluster, and whether a row may still change."""
    made: dict[str, pa.Array] = {"cluster": same(cluster, rows.num_rows)}
    if over_at is not None:
        over = over_at(rows)
        made["is_open"] = pa.array(np.ones(len(over), np.bool_) if settled_to is None else over > settled_to)
    columns = {name: rows.column(name) for name in rows.column_names}
    schema = table_schema(TABLES[table])
    whole = pa.table({name: {**columns, **made}[name] for name in schema.names})
    return whole.cast(pa.schema([as_made(field, whole.column(field.name).type) for field in schema]))


def as_made(field: pa.Field, kind: pa.DataType) -> pa.Field:
    """Dictionary columns are written as they are."""
    return field.with_type(KIND) if pa.types.is_dictionary(kind) and field.type == pa.string() else field


def progress_after(brief: MeasuringInput, partition: int) -> Progress:
    return Progress(
        partition,
        brief.through_run_id,
        brief.replayed[partition].through_offset,
        brief.settled_time(partition),
        brief.basis,
    )
