"""Recomputes one task's partition or slice: continues from earlier runs, or starts from the beginning if new data
changes earlier results.

Each window of the log goes through three folds: the audit of classic groups, the audit of modern groups, and the
progress of migrations. At the end, what-ifs are computed for each group with records.
"""

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.output.failure import Failure, visible
from jobs.recomputing.facts import Progress, RecomputingInput, latest
from jobs.recomputing.operations import IDS, NAMES, Window, values, whole_operations
from jobs.replaying.log.opened import Opened
from jobs.replaying.log.partition import GROUP_TABLES, PartitionLog, offsets_of, times_of
from jobs.replaying.log.row_groups import LEAST, Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.earlier_rows import EarlierRows, in_groups, without_groups
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice
from schemas.tables import TABLES, Table
from schemas.words.exit_codes import ExitCode
from schemas.words.records import GroupType
from udfs.arrays.arrow_schema import table_schema
from udfs.audit.checks.results import AuditRow, Trial, judged
from udfs.audit.classic_audit import ClassicAudit
from udfs.audit.modern_audit import ModernAudit
from udfs.audit.states import PARTS, GroupStates, NewerFormat
from udfs.audit.upgrades import Upgrades
from udfs.audit.whatif import what_ifs
from udfs.log.leader_epochs import LeaderEpochs
from udfs.topics.partition_codes import TopicCodes

# A record of a large group may contain some ten thousand partitions.
WINDOW_ROWS = 1 << 13
# Tables about groups as they are now, which only their coordinators know.
OF_THE_PRESENT = (TABLES["assignment_whatif"], TABLES["assignor_upgrades"])


def recompute_slice(
    run_input: RecomputingInput,
    partition_slice: PartitionSlice,
    files: HistoryFiles,
    opened: Opened,
    into: LogTaskResult[Progress],
) -> None:
    partition = partition_slice.partition
    earlier = run_input.earlier.get(partition)
    log = log_of(run_input, partition, opened, earlier)
    if earlier is not None and begins_anew(log, earlier):
        earlier, log = None, log_of(run_input, partition, opened, None)
    if earlier is None:
        into.whole.append(partition)
    work = SliceRecomputing(run_input, partition_slice, log, earlier, files)
    try:
        work.run()
    except NewerFormat as error:
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, visible(str(error))) from None
    if work.modern.is_overturned:
        into.insufficient.append(partition)
    into.num_records += work.num_records
    into.num_groups += work.num_groups
    into.progress.append(work.progress)


def log_of(run_input: RecomputingInput, partition: int, opened: Opened, earlier: Progress | None) -> PartitionLog:
    epochs = LeaderEpochs()
    for epoch, first in run_input.begins.get(partition, {}).items():
        epochs.begin(epoch, first)
    after_run = None if earlier is None else earlier.through_run_id
    log = PartitionLog(Wanted(run_input.cluster, partition, after_run), run_input.files, opened, epochs)
    log.begin_epochs()
    return log


def begins_anew(new: PartitionLog, earlier: Progress) -> bool:
    """Whether new records come before those that are done, or belong to the last operation of these."""
    first, through = new.first_offset(), earlier.through_offset
    if first is None or through is None:
        return False
    return first <= through or new.is_torn(through, earlier.through_time)


class SliceRecomputing:
    def __init__(
        self,
        run_input: RecomputingInput,
        partition_slice: PartitionSlice,
        log: PartitionLog,
        earlier: Progress | None,
        files: HistoryFiles,
    ) -> None:
        facts, partition = run_input.facts, partition_slice.partition
        self.input, self.partition, self.log, self.files = run_input, partition, log, files
        self.slice = Slice(partition_slice.number, partition_slice.num_slices)
        held = None if earlier is None else run_input.held
        self.held = EarlierRows(run_input.cluster, partition, self.slice, held, log.opened)
        states = self.held.rows("recomputed_groups")
        texts = dict(zip(states.column("group_id").to_pylist(), states.column("state").to_pylist(), strict=True))
        codes = TopicCodes(facts.names)
        self.states = GroupStates(texts, codes)
        classic, modern, upgrades = map(self.states.of_fold, PARTS)
        self.classic, self.modern = ClassicAudit(facts, classic), ModernAudit(facts, modern, codes)
        self.upgrades = Upgrades(facts, upgrades)
        self.waiting = WaitingRows()
        self.num_records = self.num_groups = 0
        # Of the whole offsets partition, except the verdicts: those are of new rows. Its basis covers all slices.
        begins = dict(run_input.begins.get(partition, {}))
        self.progress = Progress(partition, run_input.through_run_id, leader_epochs=begins)
        if earlier is not None:
            self.progress.add(replace(earlier, verdicts=Counter()))

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
        names, known = self.input.facts.names, self.progress.unnamed_topic_ids
        self.progress.topics |= {names[each] for each in known if each in names}
        self.progress.unnamed_topic_ids = {each for each in known if each not in names}

    def note(self, tables: Window) -> None:
        """For all slices: each begins where all of them ended."""
        progress = self.progress
        progress.topics |= values(tables, NAMES)
        progress.unnamed_topic_ids |= values(tables, IDS)
        for rows in tables.values():
            newest = int(times_of(rows).max())
            progress.through_offset = latest(progress.through_offset, int(offsets_of(rows)[-1]))
            progress.through_time = latest(progress.through_time, None if newest == LEAST else newest)

    def write_audited(self, rows: Sequence[AuditRow]) -> None:
        progress = self.progress
        progress.verdicts.update(row.verdict.value for row in rows)
        for row in rows:
            if row.is_unconfirmed:
                progress.unconfirmed_through_time = latest(progress.unconfirmed_through_time, row.record_time)
        self.write(TABLES["assignment_audit"], rows)

    def write_groups(self) -> None:
        """States, migrations and what-ifs of groups with records; those of all other groups stay as they were. A record
        may matter to one fold and not to another: what a fold remembers of a group stays until the fold meets the
        group."""
        folds: tuple[ClassicAudit | ModernAudit | Upgrades, ...] = (self.classic, self.modern, self.upgrades)
        states: dict[str, Mapping[str, Any]] = {part: fold.states() for part, fold in zip(PARTS, folds, strict=True)}
        texts = self.states.texts_after(states)
        self.num_groups = len(texts)
        newest = [*self.classic.latest().values(), *self.modern.latest().values()]
        self.write(
            TABLES["assignment_whatif"], what_ifs([each for each in newest if each is not None], self.input.facts)
        )
        rows = self.held.rows("assignment_whatif")
        # Those of groups that neither audit handled as its own type.
        is_classic = pc.equal(rows.column("group_type"), GroupType.CLASSIC.value)
        is_met = pc.if_else(is_classic, in_groups(rows, states["classic"]), in_groups(rows, states["modern"]))
        self.write_rows(TABLES["assignment_whatif"], rows.filter(pc.invert(is_met)))
        self.write(TABLES["assignor_upgrades"], self.upgrades.rows())
        self.write_rows(TABLES["assignor_upgrades"], self.held.rows_without("assignor_upgrades", states["upgrades"]))
        about = {"cluster": self.input.cluster, "offsets_partition": self.partition}
        kept = [{**about, "group_id": group_id, "state": text} for group_id, text in texts.items() if text is not None]
        self.write_rows(
            TABLES["recomputed_groups"], pa.Table.from_pylist(kept, table_schema(TABLES["recomputed_groups"]))
        )
        self.write_rows(TABLES["recomputed_groups"], self.held.rows_without("recomputed_groups", texts))

    def write(self, table: Table, rows: Sequence[Any]) -> None:
        if rows:
            self.write_rows(table, row_table(table, rows, self.input.cluster, self.partition))

    def write_rows(self, table: Table, rows: pa.Table) -> None:
        left_out = self.input.left_out.get(self.partition)
        if left_out and table in OF_THE_PRESENT:
            rows = without_groups(rows, left_out)
        if rows.num_rows:
            self.files.write(table.name, rows, self.partition)


@dataclass
class WaitingRows:
    """Rows of `assignment_audit` whose verdict waits for the group's last target. They wait on the disk of this
    machine: where another class bears an assignor's name, all rows of its groups do, and each may list a thousand
    partitions.

    `file` has no name: it is gone when the process ends, however that is. None: no row waits. `trials`: of the rows of
    each window, in order. They stay in memory, where targets that follow change them."""

    file: IO[bytes] | None = None
    trials: list[list[Trial | None]] = field(default_factory=list)

    def without_waiting(self, rows: Sequence[AuditRow]) -> list[AuditRow]:
        """Takes the rows that wait; returns the others."""
        others = [row for row in rows if row.trial is None]
        if waiting := [row for row in rows if row.trial is not None]:
            self.file = self.file or tempfile.TemporaryFile()  # noqa: SIM115
            self.trials.append([row.trial for row in waiting])
            for row in waiting:
                row.trial = None
            pickle.dump(waiting, self.file)
        return others

    def judged(self) -> Iterator[list[AuditRow]]:
        if self.file is None:
            return
        self.file.seek(0)
        with self.file:
            for trials in self.trials:
                rows: list[AuditRow] = pickle.load(self.file)
                for row, trial in zip(rows, trials, strict=True):
                    row.trial = trial
                yield list(map(judged, rows))


def row_table(table: Table, rows: Sequence[Any], cluster: str, partition: int) -> pa.Table:
    """Of dataclass rows, whose fields are columns. Times are microseconds."""
    schema = table_schema(table)
    constants = {"cluster": cluster, "evidence_partition": partition}
    columns = [
        pa.repeat(pa.scalar(constants[field.name], field.type), len(rows))
        if field.name in constants
        else column([getattr(row, field.name) for row in rows], field.type)
        for field in schema
    ]
    return pa.table(columns, schema)


def column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if not pa.types.is_list(kind) or not pa.types.is_struct(kind.value_type):
        return pa.array(values, kind)
    # There are many lists of structs, mostly short: columns of their items are faster than an object for each.
    items = [item for value in values for item in value or ()]
    of_items = [pa.array([getattr(item, field.name) for item in items], field.type) for field in kind.value_type]
    structs = pa.StructArray.from_arrays(of_items, fields=list(kind.value_type))
    starts = list(accumulate((len(value or ()) for value in values), initial=0))
    mask = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), structs, type=kind, mask=mask)
