"""What a task of a replay does: replays its shares one after the other and writes files of all tables.

It runs in the driver when there is little to do, else in a worker of Spark, which knows neither the driver's objects
nor Java.
"""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from jobs.failure import Failure, os_error_line
from jobs.ingestion.row_sinks import serialized
from jobs.replaying.assignment import Answer, Assignment, Progress, Share
from jobs.replaying.history_files import HistoryFiles
from jobs.replaying.log_files import Opened, Wanted
from jobs.replaying.partition_log import GROUP_TABLES, PartitionLog
from jobs.replaying.partition_replay import PartitionReplay
from jobs.replaying.slices import Slice
from jobs.spark.kept_memory import keep_memory
from schemas.exit_codes import ExitCode
from udfs.offset_ranges import Range
from udfs.replay.coverage import NO_TIME, Coverage, Stretch
from udfs.replay.leader_epochs import LeaderEpochs


def answer(assignment: Assignment, shares: Sequence[Share]) -> Answer:
    """A failure that a user can act on is an answer too: Spark would wrap an exception in pages of its own."""
    pa.set_cpu_count(1)
    keep_memory()
    files = HistoryFiles(assignment.root, assignment.run_id)
    found = Answer()
    opened = Opened()
    try:
        for share in shares:
            replay_share(assignment, share, files, opened, found)
        found.files = files.close()
    except (Failure, OSError) as error:
        files.abandon()
        if isinstance(error, Failure):
            return Answer(failure=(error.code, str(error)))
        return Answer(failure=(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, assignment.root)))
    except BaseException:
        files.abandon()
        raise
    for name, file in found.files:
        found.num_rows[name] = found.num_rows.get(name, 0) + file.num_rows
    return found


def replay_share(assignment: Assignment, share: Share, files: HistoryFiles, opened: Opened, into: Answer) -> None:
    earlier = assignment.earlier.get(share.partition)
    if earlier is not None:
        new = log_of(assignment, share.partition, opened, earlier.through_run_id)
        covered = assignment.covered.get(share.partition, ())
        if not begins_anew(assignment, earlier, new, covered):
            if replay_from(assignment, share, new, earlier, files, into):
                return
            if share.num_slices > 1:
                # All slices have to begin at the same place.
                into.insufficient.append(share.partition)
                return
    into.whole.append(share.partition)
    replay_from(assignment, share, log_of(assignment, share.partition, opened, None), None, files, into)


def replay_from(
    assignment: Assignment, share: Share, log: PartitionLog, earlier: Progress | None, files: HistoryFiles, into: Answer
) -> bool:
    progress = progress_from(assignment, share.partition, earlier, assignment.covered.get(share.partition, ()))
    through = -1 if earlier is None or earlier.through_offset is None else earlier.through_offset
    log.epochs = progress.epochs
    log.begin_epochs()
    survey = log.survey(progress.coverage, Slice(share.number, share.num_slices))
    replay = PartitionReplay(assignment, share, log, survey, progress, through, files)
    num_records = replay.run()
    if num_records is None:
        return False
    into.num_records += num_records
    into.num_groups += len(survey.first_records)
    into.transactions += [(share.partition, serialized(rows)) for rows in replay.transactions]
    progress.rules = assignment.rules.of_topics({each.topic for each in progress.sightings}).text()
    into.progress.append(progress)
    return True


def log_of(assignment: Assignment, partition: int, opened: Opened, after_run: str | None) -> PartitionLog:
    return PartitionLog(Wanted(assignment.cluster, partition, after_run), assignment.files, opened)


def progress_from(
    assignment: Assignment, partition: int, earlier: Progress | None, covered: Sequence[Range]
) -> Progress:
    stretches = [Stretch(first, last) for first, last in covered]
    coverage, epochs = Coverage(stretches), LeaderEpochs()
    if earlier is None:
        return Progress(partition, assignment.through_run_id, "", coverage, epochs, [], [])
    before = earlier.coverage
    for place, known in enumerate(before.stretches):
        stretches[place] = Stretch(**{**vars(known), "last_offset": stretches[place].last_offset})
    coverage.gap_firsts, coverage.gap_lasts = list(before.gap_firsts), list(before.gap_lasts)
    coverage.last_offset, coverage.last_time = before.last_offset, before.last_time
    epochs = LeaderEpochs({number: replace(each) for number, each in earlier.epochs.of.items()})
    sightings = [replace(each) for each in earlier.sightings]
    unnamed = list(earlier.unnamed_topic_ids)
    return Progress(partition, assignment.through_run_id, "", coverage, epochs, sightings, unnamed)


def begins_anew(assignment: Assignment, earlier: Progress, new: PartitionLog, covered: Sequence[Range]) -> bool:
    """Whether what is new changes what earlier runs made of the log before it."""
    if not rests_on_the_same(assignment, earlier, covered):
        return True
    through, time = earlier.through_offset, earlier.coverage.last_time
    first = new.first_offset()
    if first is None:
        return False
    if through is None or first <= through:
        return True
    return is_torn(new, through, time)


def rests_on_the_same(assignment: Assignment, earlier: Progress, covered: Sequence[Range]) -> bool:
    if any(topic_id in assignment.names for topic_id in earlier.unnamed_topic_ids):
        return False
    if assignment.rules.of_topics({each.topic for each in earlier.sightings}).text() != earlier.rules:
        return False
    before = [(each.first_offset, each.last_offset) for each in earlier.coverage.stretches]
    now = list(covered[: len(before)])
    if not before:
        return True
    return before[:-1] == now[:-1] and now[-1][0] == before[-1][0] and now[-1][1] >= before[-1][1]


def is_torn(new: PartitionLog, through: int, time: int | None) -> bool:
    """Whether the runs before ended inside of what may be one operation of a group."""
    for name in GROUP_TABLES:
        for piece in new.found.get(name, ()):
            rows = new.opened.read(piece, ["batch_first_offset", "record_time"], new.wanted)
            batch = rows.column("batch_first_offset")
            if (first := pc.min(batch).as_py()) is not None and first <= through:
                return True
            if batch.null_count and time is not None and time != NO_TIME:
                times = rows.filter(batch.is_null()).column("record_time").cast(pa.int64())
                least = pc.min(times).as_py()
                if least is None or least <= time:
                    return True
    return False
