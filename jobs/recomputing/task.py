"""Recomputes one task's partition or slice: continues from earlier runs, or starts from the beginning if new data
changes earlier results.

Each window of the log goes through three folds: the audit of classic groups, the audit of modern groups, and the
progress of migrations. At the end, what-ifs are computed for each group with records.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.recomputing.facts import failing_if_newer
from jobs.recomputing.named_topics import topic_ids, topic_names
from jobs.recomputing.row_tables import row_table, state_table
from jobs.recomputing.task_messages import Progress, RecomputingInput, latest
from jobs.recomputing.waiting_rows import WaitingRows
from jobs.recomputing.whole_operations import Window, whole_operations
from jobs.replaying.log.opened import Opened
from jobs.replaying.log.partition import GROUP_TABLES, PartitionLog, offsets_of, times_of
from jobs.replaying.log.row_groups import LEAST, Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.earlier_rows import EarlierRows, in_groups, without_groups
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice
from schemas.declarations.columns import Table
from schemas.tables.assignments import ASSIGNMENT_AUDIT, ASSIGNMENT_WHATIF, ASSIGNOR_UPGRADES
from schemas.tables.state.recomputed import RECOMPUTED_GROUPS
from schemas.words.records import GroupType
from udfs.audit.checks.results import AuditRow
from udfs.audit.classic_audit import ClassicAudit
from udfs.audit.modern_audit import ModernAudit
from udfs.audit.states import PARTS, GroupStates
from udfs.audit.upgrades.progress import Upgrades
from udfs.audit.whatif.compare_assignors import what_ifs
from udfs.log.leader_epochs import LeaderEpochs
from udfs.topics.partition_codes import TopicCodes

# A record of a large group may contain some ten thousand partitions.
WINDOW_ROWS = 1 << 13
# Tables about groups as they are now, which only their coordinators know.
OF_THE_PRESENT = (ASSIGNMENT_WHATIF, ASSIGNOR_UPGRADES)


def recompute_slice(
    run_input: RecomputingInput,
    partition_slice: PartitionSlice,
    files: HistoryFiles,
    opened: Opened,
    into: LogTaskResult[Progress],
) -> None:
    earlier = run_input.earlier.get(partition_slice.partition)
    log = log_of(run_input, partition_slice.partition, opened, None if earlier is None else earlier.through_run_id)
    if earlier is not None and begins_anew(log, earlier):
        earlier, log = None, log_of(run_input, partition_slice.partition, opened, None)
    if earlier is None:
        into.whole.append(partition_slice.partition)
    work = SliceRecomputing(run_input, partition_slice, log, earlier, files)
    with failing_if_newer():
        work.run()
    if work.modern.is_overturned:
        into.insufficient.append(partition_slice.partition)
    into.num_records += work.num_records
    into.num_groups += work.num_groups
    into.progress.append(work.progress)


def log_of(run_input: RecomputingInput, partition: int, opened: Opened, after_run: str | None) -> PartitionLog:
    epochs = LeaderEpochs()
    for epoch, first in run_input.begins.get(partition, {}).items():
        epochs.begin(epoch, first)
    log = PartitionLog(Wanted(run_input.cluster, partition, after_run), run_input.files, opened, epochs)
    log.begin_epochs()
    return log


def begins_anew(new: PartitionLog, earlier: Progress) -> bool:
    """Whether new records come before those that are done, or belong to the last operation of these."""
    first, through = new.first_offset(), earlier.through_offset
    if first is None or through is None:
        return False
    return first <= through or new.is_torn(through, earlier.through_time)


@dataclass
class SliceRecomputing:
    input: RecomputingInput
    partition_slice: PartitionSlice
    log: PartitionLog
    earlier: Progress | None
    files: HistoryFiles
    num_of_verdicts: Counter[str] = field(default_factory=Counter)
    num_records: int = 0
    num_groups: int = 0
    named: set[str] = field(default_factory=set)
    identified: set[str] = field(default_factory=set)
    through: tuple[int | None, int | None] = (None, None)
    unconfirmed_through_time: int | None = None
    waiting: WaitingRows = field(default_factory=WaitingRows)

    def __post_init__(self) -> None:
        self.slice = Slice(self.partition_slice.number, self.partition_slice.num_slices)
        held = None if self.earlier is None else self.input.held
        place = self.input.cluster, self.partition_slice.partition, self.slice
        self.held = EarlierRows(*place, held, self.log.opened)
        states = self.held.rows(RECOMPUTED_GROUPS.name)
        texts = dict(zip(states.column("group_id").to_pylist(), states.column("state").to_pylist(), strict=True))
        facts = self.input.facts
        codes = TopicCodes(facts.names)
        self.states = GroupStates(texts, codes)
        classic, modern, upgrades = map(self.states.of_fold, PARTS)
        self.classic, self.modern = ClassicAudit(facts, classic), ModernAudit(facts, modern, codes)
        self.audits = (self.classic, self.modern)
        self.upgrades = Upgrades(facts, upgrades)

    def run(self) -> None:
        windows = (tables for _, tables in self.log.windows(GROUP_TABLES, [], WINDOW_ROWS))
        for tables in whole_operations(windows):
            self.note(tables)
            ours = {name: rows for name, each in tables.items() if (rows := self.slice.rows(each)).num_rows}
            self.num_records += sum(rows.num_rows for rows in ours.values())
            self.write_audited(self.classic.take(ours))
            self.write_audited(self.waiting.without_waiting(self.modern.unjudged(ours)))
            self.upgrades.take(ours)
        for rows in self.waiting.judged():
            self.write_audited(rows)
        self.write_groups()

    def note(self, tables: Window) -> None:
        """For all slices: each begins where all of them ended."""
        self.named |= topic_names(tables)
        self.identified |= topic_ids(tables)
        offset, time = self.through
        for rows in tables.values():
            newest = int(times_of(rows).max())
            offset = latest(offset, int(offsets_of(rows)[-1]))
            time = latest(time, None if newest == LEAST else newest)
        self.through = offset, time

    def write_audited(self, rows: Sequence[AuditRow]) -> None:
        self.num_of_verdicts.update(row.verdict.value for row in rows)
        for row in rows:
            if row.is_unconfirmed:
                self.unconfirmed_through_time = latest(self.unconfirmed_through_time, row.record_time)
        self.write(ASSIGNMENT_AUDIT, rows)

    def write_groups(self) -> None:
        """States, migrations and what-ifs of groups with records; those of all other groups stay as they were. A record
        may matter to one fold and not to another: what a fold remembers of a group stays until the fold meets the
        group."""
        states = dict(zip(PARTS, (fold.states() for fold in (*self.audits, self.upgrades)), strict=True))
        texts = self.states.texts_after(states)
        self.num_groups = len(texts)
        newest = [group for audit in self.audits for group in audit.latest().values() if group is not None]
        self.write(ASSIGNMENT_WHATIF, what_ifs(newest, self.input.facts))
        self.write_rows(ASSIGNMENT_WHATIF, self.what_ifs_that_stand(states["classic"], states["modern"]))
        self.write(ASSIGNOR_UPGRADES, self.upgrades.rows())
        self.write_rows(ASSIGNOR_UPGRADES, self.held.rows_without(ASSIGNOR_UPGRADES.name, states["upgrades"]))
        kept = {group_id: text for group_id, text in texts.items() if text is not None}
        made = state_table(RECOMPUTED_GROUPS, kept, self.input.cluster, self.partition_slice.partition)
        self.write_rows(RECOMPUTED_GROUPS, made)
        self.write_rows(RECOMPUTED_GROUPS, self.held.rows_without(RECOMPUTED_GROUPS.name, texts))

    def what_ifs_that_stand(self, classic: Collection[str], modern: Collection[str]) -> pa.Table:
        """For groups that neither audit handled as its own type."""
        rows = self.held.rows(ASSIGNMENT_WHATIF.name)
        is_classic = pc.equal(rows.column("group_type"), GroupType.CLASSIC.value)
        is_met = pc.if_else(is_classic, in_groups(rows, classic), in_groups(rows, modern))
        return rows.filter(pc.invert(is_met))

    def write(self, table: Table, rows: Sequence[Any]) -> None:
        if rows:
            self.write_rows(table, row_table(table, rows, self.input.cluster, self.partition_slice.partition))

    def write_rows(self, table: Table, rows: pa.Table) -> None:
        left_out = self.input.left_out.get(self.partition_slice.partition)
        if left_out and table in OF_THE_PRESENT:
            rows = without_groups(rows, left_out)
        if rows.num_rows:
            self.files.write(table.name, rows, self.partition_slice.partition)

    @property
    def progress(self) -> Progress:
        """Progress of the whole offsets partition, except the verdicts, which are those of new rows. Its basis covers
        all slices together."""
        run, before = self.input, self.earlier or Progress(self.partition_slice.partition, "")
        names, known = run.facts.names, self.identified | before.unnamed_topic_ids
        topics = before.topics | self.named | {names[each] for each in known if each in names}
        unnamed = {each for each in known if each not in names}
        return Progress(
            partition=self.partition_slice.partition,
            through_run_id=run.through_run_id,
            through_offset=latest(before.through_offset, self.through[0]),
            through_time=latest(before.through_time, self.through[1]),
            basis="",
            begins=dict(run.begins.get(self.partition_slice.partition, {})),
            topics=topics,
            unnamed_topic_ids=unnamed,
            num_of_verdicts=self.num_of_verdicts,
            unconfirmed_through_time=latest(before.unconfirmed_through_time, self.unconfirmed_through_time),
        )
