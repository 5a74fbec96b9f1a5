"""Replays one task's partition or slice: continues from earlier runs, or starts from the beginning if new data changes
earlier results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow.compute as pc

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.partition import PartitionLog
from jobs.replaying.log.row_groups import Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.log.survey import survey_of
from jobs.replaying.partition.replay import PartitionReplay
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice, serialize
from jobs.replaying.task.replay_messages import Progress, ReplayInput
from udfs.log.coverage import Coverage, KnownSpan
from udfs.log.damage import damage_up_to
from udfs.log.leader_epochs import LeaderEpochs
from udfs.log.offset_ranges import Range
from udfs.log.release_lines import Lines
from udfs.topics.end_offsets import fingerprint


def partitions_to_replay(run_input: ReplayInput, new_rows: Mapping[int, int]) -> list[int]:
    """Partitions with new records, and those that depend on something outside the log that has changed."""
    chosen = set(run_input.covered) - set(run_input.earlier)
    for partition, earlier in run_input.earlier.items():
        covered = run_input.covered.get(partition, ())
        before = [(each.first_offset, each.last_offset) for each in earlier.coverage.stretches]
        is_same = rests_on_the_same(run_input, earlier, covered) and list(covered) == before
        if new_rows.get(partition) or not is_same:
            chosen.add(partition)
    return sorted(chosen)


def replay_slice(
    run_input: ReplayInput,
    partition_slice: PartitionSlice,
    files: HistoryFiles,
    opened: Opened,
    into: LogTaskResult[Progress],
) -> None:
    earlier = run_input.earlier.get(partition_slice.partition)
    if earlier is not None:
        new = log_of(run_input, partition_slice.partition, opened, earlier.through_run_id)
        covered = run_input.covered.get(partition_slice.partition, ())
        whole = partial(log_of, run_input, partition_slice.partition, opened, None)
        if not begins_anew(run_input, earlier, new, whole, covered):
            if replay_from(run_input, partition_slice, new, earlier, files, into):
                return
            if partition_slice.num_slices > 1:
                # All slices must begin at the same offset.
                into.insufficient.append(partition_slice.partition)
                return
    into.whole.append(partition_slice.partition)
    replay_from(
        run_input, partition_slice, log_of(run_input, partition_slice.partition, opened, None), None, files, into
    )


def replay_from(
    run_input: ReplayInput,
    partition_slice: PartitionSlice,
    log: PartitionLog,
    earlier: Progress | None,
    files: HistoryFiles,
    into: LogTaskResult[Progress],
) -> bool:
    progress = progress_from(
        run_input, partition_slice.partition, earlier, run_input.covered.get(partition_slice.partition, ())
    )
    through = -1 if earlier is None or earlier.through_offset is None else earlier.through_offset
    log.epochs = progress.epochs
    log.begin_epochs()
    survey = survey_of(log, progress.coverage, Slice(partition_slice.number, partition_slice.num_slices))
    progress.line_spans = run_input.line_spans(partition_slice.partition, progress.epochs)
    if earlier is not None and not goes_on_by_rules(earlier, progress, through):
        return False
    note_damage(run_input, partition_slice.partition, progress.coverage, log.opened)
    replay = PartitionReplay(
        run_input=run_input,
        partition_slice=partition_slice,
        log=log,
        survey=survey,
        progress=progress,
        through=through,
        files=files,
    )
    num_records = replay.run()
    if num_records is None:
        return False
    into.num_records += num_records
    into.num_groups += len(survey.first_records)
    into.transactions += [(partition_slice.partition, serialize(rows)) for rows in replay.transactions]
    into.progress.append(progress)
    return True


def goes_on_by_rules(earlier: Progress, progress: Progress, through: int) -> bool:
    """Whether the rules of what earlier runs replayed are the same. If the last COMMIT counts after it, the state that
    they left is not enough: from it nobody knows what another coordinator would have in effect."""
    spans = [each for each in progress.line_spans if each.first_offset <= through]
    return spans == list(earlier.line_spans) and not Lines(progress.line_spans).last_commits_after(through)


def note_damage(run_input: ReplayInput, partition: int, coverage: Coverage, opened: Opened) -> None:
    """Each damaged range is inside one covered range."""
    damage = run_input.damage.get(partition, ())
    log = log_of(run_input, partition, opened, None) if damage else None
    for stretch in coverage.stretches:
        stretch.damaged_records = sum(
            each.num_left(log.offsets_between(each.first_offset, each.last_offset))
            for each in damage
            if log is not None and stretch.first_offset <= each.first_offset <= stretch.last_offset
        )


# What an older rule of unread time made is made again.
RULES_OF_RELEASE = " unread 2 libraries 1"


def rules_text(run_input: ReplayInput, progress: Progress) -> str:
    topics = {each.topic for each in progress.sightings}
    rules = run_input.rules.of_partition(progress.partition, topics, progress.unnamed_topic_ids)
    reached = max((each.last_offset for each in progress.coverage.stretches), default=-1)
    damage = damage_up_to(run_input.damage.get(progress.partition, ()), reached)
    ends = run_input.end_offsets.of_topics(topics)
    seen = fingerprint(ends, progress.snapshots_through, progress.coverage.last_time, progress.awaited)
    grown = run_input.growths.text(topics, progress.coverage.last_time)
    return replace(rules, damage=damage).text() + seen + grown + RULES_OF_RELEASE


def log_of(run_input: ReplayInput, partition: int, opened: Opened, after_run: str | None) -> PartitionLog:
    return PartitionLog(Wanted(run_input.cluster, partition, after_run), run_input.files, opened)


def progress_from(
    run_input: ReplayInput, partition: int, earlier: Progress | None, covered: Sequence[Range]
) -> Progress:
    stretches = [KnownSpan(first, last) for first, last in covered]
    coverage, epochs = Coverage(stretches), LeaderEpochs()
    if earlier is None:
        return Progress(
            partition=partition,
            through_run_id=run_input.through_run_id,
            rules="",
            coverage=coverage,
            epochs=epochs,
            sightings=[],
            unnamed_topic_ids=[],
        )
    before = earlier.coverage
    for place, known in enumerate(before.stretches):
        stretches[place] = KnownSpan(**{**vars(known), "last_offset": stretches[place].last_offset})
    coverage.gap_firsts, coverage.gap_lasts = list(before.gap_firsts), list(before.gap_lasts)
    coverage.last_offset, coverage.last_time = before.last_offset, before.last_time
    coverage.newest_times = before.newest_times
    epochs = LeaderEpochs({number: replace(each) for number, each in earlier.epochs.of.items()})
    sightings = [replace(each) for each in earlier.sightings]
    unnamed = list(earlier.unnamed_topic_ids)
    progress = Progress(
        partition=partition,
        through_run_id=run_input.through_run_id,
        rules="",
        coverage=coverage,
        epochs=epochs,
        sightings=sightings,
        unnamed_topic_ids=unnamed,
    )
    progress.awaited, progress.named = list(earlier.awaited), list(earlier.named)
    progress.proved = None if earlier.proved is None else list(earlier.proved)
    return progress


def begins_anew(
    run_input: ReplayInput,
    earlier: Progress,
    new: PartitionLog,
    whole: Callable[[], PartitionLog],
    covered: Sequence[Range],
) -> bool:
    """Whether new records change what earlier runs made of the log before them."""
    if not rests_on_the_same(run_input, earlier, covered):
        return True
    through, time = earlier.through_offset, earlier.coverage.last_time
    first = new.first_offset()
    if first is None:
        return False
    if through is None or first <= through:
        return True
    return new.is_torn(through, time) or goes_on_deleting(new, whole, through, time)


def goes_on_deleting(new: PartitionLog, whole: Callable[[], PartitionLog], through: int, time: int | None) -> bool:
    """The reason of a deletion depends on what else was deleted at the same time, even in another batch."""
    times = new.deletion_times()
    if time is None or not len(times) or pc.min(times).as_py() > time:
        return False
    return bool(pc.any(pc.is_in(times, value_set=whole().deletion_times(through))).as_py())


def rests_on_the_same(run_input: ReplayInput, earlier: Progress, covered: Sequence[Range]) -> bool:
    if any(topic_id in run_input.sure_names for topic_id in earlier.unnamed_topic_ids):
        return False
    if rules_text(run_input, earlier) != earlier.rules:
        return False
    if run_input.line_spans(earlier.partition, earlier.epochs) != earlier.line_spans:
        return False
    before = [(each.first_offset, each.last_offset) for each in earlier.coverage.stretches]
    now = list(covered[: len(before)])
    if not before:
        return True
    return before[:-1] == now[:-1] and now[-1][0] == before[-1][0] and now[-1][1] >= before[-1][1]
