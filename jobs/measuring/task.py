"""Measures one task's partition or slice: lag, rates, verdicts and events of its groups, continuing from earlier
runs."""

from jobs.measuring.partition_rows import RawCommits, Since
from jobs.measuring.slice_rows import Settled, SliceRows
from jobs.measuring.task_messages import MeasuringInput, Progress
from jobs.measuring.whole_rows import HOUR
from jobs.measuring.written_rows import Writer
from jobs.replaying.log.opened import Opened
from jobs.replaying.log.row_groups import Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice
from udfs.lag.sums import DAY
from udfs.log.leader_epochs import Epoch, LeaderEpochs
from udfs.rules.verdicts.burrow_windows import SECOND

# How far back our verdicts look at history. Burrow's look at raw commits, as far back as expire-group.
HISTORY_NEEDED = DAY
NOTHING = -1


def measure_slice(
    run_input: MeasuringInput,
    partition_slice: PartitionSlice,
    files: HistoryFiles,
    opened: Opened,
    into: LogTaskResult[Progress],
) -> None:
    earlier = run_input.earlier.get(partition_slice.partition)
    with rows_of(run_input, partition_slice, opened, earlier) as rows:
        if earlier is not None and rows.is_late:
            # All slices must begin at the same offset.
            into.insufficient.append(partition_slice.partition)
            return
        if earlier is None:
            into.whole.append(partition_slice.partition)
        settled_from = None if earlier is None else earlier.settled_time
        writer = Writer(rows, settled_from, run_input.settled_time(partition_slice.partition), files)
        writer.write_all()
    into.num_records += rows.num_commits
    into.num_groups += writer.num_groups
    into.progress.append(progress_after(run_input, partition_slice.partition))


def rows_of(
    run_input: MeasuringInput, partition_slice: PartitionSlice, opened: Opened, earlier: Progress | None
) -> SliceRows:
    settled, through = (None, None) if earlier is None else (earlier.settled_time, earlier.through_offset)
    from_time, commits_from = needed_from(settled, run_input.as_of_time, run_input.burrow.expire_group_s * SECOND)
    commits = RawCommits(
        files=run_input.files.get("offset_commits", ()),
        wanted=Wanted(run_input.cluster, partition_slice.partition),
        opened=opened,
        epochs=LeaderEpochs(
            {number: Epoch(at) for number, at in run_input.replayed[partition_slice.partition].begins.items()}
        ),
        groups=Slice(
            partition_slice.number,
            partition_slice.num_slices,
            run_input.left_out.get(partition_slice.partition, frozenset()),
        ),
        since=None if commits_from is None else Since(commits_from, NOTHING if through is None else through),
    )
    return SliceRows(run_input, partition_slice, from_time, commits, Settled(settled, through))


def needed_from(settled: int | None, as_of: int, commits_needed: int) -> tuple[int | None, int | None]:
    """From when on history and raw commits are read; None: from the beginning."""
    if settled is None:
        return None, None
    # A row is about one day at most, and depends on the hour before it.
    begun = settled // DAY * DAY - HOUR
    return min(begun, as_of - HISTORY_NEEDED), min(begun, as_of - commits_needed)


def progress_after(run_input: MeasuringInput, partition: int) -> Progress:
    return Progress(
        partition,
        run_input.through_run_id,
        run_input.replayed[partition].through_offset,
        run_input.settled_time(partition),
        run_input.basis(partition),
    )
