"""Measures one task's partition or slice: lag, rates, verdicts and events of its groups, continuing from earlier
runs."""

from jobs.measuring.partition_rows import RawCommits, Since
from jobs.measuring.share_rows import Settled, ShareRows
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


def measure_share(
    brief: MeasuringInput, share: PartitionSlice, files: HistoryFiles, opened: Opened, into: LogTaskResult[Progress]
) -> None:
    earlier = brief.earlier.get(share.partition)
    with rows_of(brief, share, opened, earlier) as rows:
        if earlier is not None and rows.is_late:
            # All slices must begin at the same offset.
            into.insufficient.append(share.partition)
            return
        if earlier is None:
            into.whole.append(share.partition)
        settled_from = None if earlier is None else earlier.settled_time
        writer = Writer(rows, settled_from, brief.settled_time(share.partition), files)
        writer.write_all()
    into.num_records += rows.num_commits
    into.num_groups += len(writer.groups)
    into.progress.append(progress_after(brief, share.partition))


def rows_of(brief: MeasuringInput, share: PartitionSlice, opened: Opened, earlier: Progress | None) -> ShareRows:
    settled, through = (None, None) if earlier is None else (earlier.settled_time, earlier.through_offset)
    from_time, commits_from = needed_from(settled, brief.as_of_time, brief.burrow.expire_group_s * SECOND)
    commits = RawCommits(
        files=brief.files.get("offset_commits", ()),
        wanted=Wanted(brief.cluster, share.partition),
        opened=opened,
        epochs=LeaderEpochs({number: Epoch(at) for number, at in brief.replayed[share.partition].begins.items()}),
        groups=Slice(share.number, share.num_slices),
        since=None if commits_from is None else Since(commits_from, NOTHING if through is None else through),
    )
    return ShareRows(brief, share, from_time, commits, Settled(settled, through))


def needed_from(settled: int | None, as_of: int, commits_needed: int) -> tuple[int | None, int | None]:
    """From when on history and raw commits are read; None: from the beginning."""
    if settled is None:
        return None, None
    # A row is about one day at most, and depends on the hour before it.
    begun = settled // DAY * DAY - HOUR
    return min(begun, as_of - HISTORY_NEEDED), min(begun, as_of - commits_needed)


def progress_after(brief: MeasuringInput, partition: int) -> Progress:
    return Progress(
        partition,
        brief.through_run_id,
        brief.replayed[partition].through_offset,
        brief.settled_time(partition),
        brief.basis,
    )
