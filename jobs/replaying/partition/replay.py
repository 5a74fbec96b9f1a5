"""Replays one offsets partition, or a slice of its groups, from where the last run ended, and makes the rows of every
history table.

First come the groups, from their own records, then the commits, which are most of the log. The groups ask what was
committed when partitions changed owners, and the commits answer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import PartitionLog
from jobs.replaying.log.slices import Slice
from jobs.replaying.log.survey import Survey
from jobs.replaying.partition.anomalies import add_misplaced, add_unreadable
from jobs.replaying.partition.commit_pass import CommitPass
from jobs.replaying.partition.departure_details import Details, with_details
from jobs.replaying.partition.departures import MEMBERSHIP, Departures
from jobs.replaying.partition.group_pass import GroupPass, HistoryRows, empty_stretches
from jobs.replaying.partition.handovers import MOVES, OWNERSHIP, WAITING, Handovers, moves_to_ask
from jobs.replaying.tables.earlier_rows import EarlierRows, in_groups, of_groups, without_groups
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import PartitionSlice
from jobs.replaying.task.replay_messages import Progress, ReplayInput
from schemas.tables import TABLES
from schemas.words.history import RebalanceOutcome
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.early_rules import EarlyOffsetReplay
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import Finished, OffsetReplay
from udfs.commits.offset_endings import OffsetFacts, topic_deletions
from udfs.commits.shown_states import whole_state
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable
from udfs.groups.history.unclear_details import HowLeft, settled_details
from udfs.groups.modern.state_json import with_answers
from udfs.groups.simple_groups import Live, Replayed, add_simple_groups, merged_spans
from udfs.groups.states.group import Context
from udfs.log.gaps import Gaps
from udfs.log.release_lines import Lines
from udfs.topics.end_offsets import Awaited, still_awaited
from udfs.topics.least_partitions import merged, steps
from udfs.topics.names import merge, sightings_of
from udfs.topics.partition_codes import TopicCodes

STATES, OFFSETS, STATE_ROWS = "replayed_groups", "replayed_offsets", "group_state_intervals"
REBALANCES, ENDS, HISTORY = "rebalances", "reading_ends", "offset_history"
# Open rows of groups without records of their own stay unchanged.
CARRIED = (MEMBERSHIP, "generation_members")


@dataclass
class PartitionReplay:
    """`progress`: of the whole partition, from the survey of its log. `through`: the last offset that earlier runs
    replayed; -1 if none did, or if the partition is replayed from the beginning."""

    run_input: ReplayInput
    partition_slice: PartitionSlice
    log: PartitionLog
    survey: Survey
    progress: Progress
    through: int
    files: HistoryFiles

    def __post_init__(self) -> None:
        self.slice = Slice(self.partition_slice.number, self.partition_slice.num_slices)
        self.gaps: Gaps = self.progress.coverage.gaps()
        all_holes = dict(self.progress.coverage.holes())
        self.holes = {last: time for last, time in all_holes.items() if last >= self.through}
        self.last_hole = max(all_holes, default=-1)
        is_late = any(each.first_offset > 0 for each in self.progress.coverage.stretches[:1])
        # Compaction removes a record only if a later one has its key; damage can remove any record.
        damage = self.run_input.damage.get(self.partition_slice.partition, ())
        before_damage = {each.first_offset - 1 for each in damage}
        self.unseen = [*([-1] if is_late else []), *sorted(before_damage | set(all_holes))]
        held = self.run_input.held if self.through >= 0 else None
        place = self.run_input.cluster, self.partition_slice.partition, self.slice
        self.earlier = EarlierRows(*place, held, self.log.opened)
        self.lines = Lines(self.progress.line_spans)
        self.topics = TopicCodes(self.run_input.names)
        self.transactions: list[pa.Table] = []
        self.awaited: Collection[Awaited] = ()

    def run(self) -> int | None:
        """Returns the number of records of groups and of commits. None, with nothing written: the rows of earlier runs
        are not enough to continue from."""
        held_states, held_offsets = self.earlier.rows(STATES), self.earlier.rows(OFFSETS)
        changeable = self.changeable_groups(held_states, held_offsets)
        rows = self.history_rows()
        self.note_anomalies(rows, held_states, held_offsets)
        states = of_groups(held_states, changeable)
        rules = self.run_input.rules
        timeouts, own = rules.timeouts_by_type(), rules.timeouts_by_group(self.partition_slice.partition)
        fold = Fold(
            Context(
                self.topics,
                self.gaps,
                self.unseen,
                timeouts=timeouts,
                own_timeouts=own,
                failovers=self.progress.epochs.failovers(),
                lines=self.lines,
                growths=self.run_input.growths,
            ),
            dict(zip(states.column("group_id").to_pylist(), states.column("state").to_pylist(), strict=True)),
        )
        write = self.write if self.through < 0 else None
        groups = GroupPass(
            log=self.log,
            slice=self.slice,
            context=fold.context,
            fold=fold,
            closed=rows,
            open=self.history_rows(),
            write=write,
        )
        groups.run(self.holes)
        handovers = self.handovers(groups)
        if not handovers.has_all_answers():
            return None
        finished, num_commits = self.link_commits(
            groups, handovers.questions(), self.state_of(held_offsets, changeable)
        )
        self.add_simple(fold, groups, finished)
        self.write_rows(groups, handovers, finished, changeable)
        self.write_states(groups, finished, held_states, held_offsets, changeable)
        self.note_progress()
        return groups.num_records + num_commits

    def state_of(self, held_offsets: pa.Table, changeable: Collection[str]) -> pa.Table:
        """The state of the offsets of these groups after the earlier runs."""
        return whole_state(of_groups(held_offsets, changeable), of_groups(self.earlier.rows(HISTORY), changeable))

    def link_commits(self, groups: GroupPass, questions: Questions, state: pa.Table) -> tuple[Finished, int]:
        """The linked commits and their number. The replay of commits and the questions, which may be large, are freed
        here: writing rows comes next, and needs memory too."""
        place, facts = (self.run_input.cluster, self.partition_slice.partition), self.facts(groups)
        last_commits = self.lines.last_commits_after(self.through)
        if last_commits:
            replay: OffsetReplay = EarlyOffsetReplay(*place, questions, facts, last_commits)
        else:
            replay = OffsetReplay(*place, state, questions, facts)
        commits = CommitPass(self.log, self.slice, replay, self.files, self.partition_slice.partition)
        finished = commits.run(self.holes)
        self.transactions = commits.transactions
        self.note_topics(groups, finished.topics)
        return finished, commits.num_records

    def history_rows(self) -> HistoryRows:
        return HistoryRows(self.run_input.cluster, self.partition_slice.partition, self.topics)

    def changeable_groups(self, held_states: pa.Table, held_offsets: pa.Table) -> Collection[str]:
        """Groups that may change: those with records, and those for which a marker may matter."""
        if self.holes and self.through >= 0:
            names = [*held_states.column("group_id").to_pylist(), *held_offsets.column("group_id").to_pylist()]
            return {*names, *self.survey.first_records}
        pending = held_offsets.filter(pc.equal(held_offsets.column("kind"), "pending")).column("group_id")
        return {*pending.to_pylist(), *self.survey.first_records}

    def note_anomalies(self, into: HistoryRows, held_states: pa.Table, held_offsets: pa.Table) -> None:
        rows = RowsByTable()
        known = {
            *held_states.column("group_id").unique().to_pylist(),
            *held_offsets.column("group_id").unique().to_pylist(),
        }
        new = ((group_id, *at) for group_id, at in sorted(self.survey.first_records.items()) if group_id not in known)
        add_misplaced(rows, new, self.partition_slice.partition, self.run_input.rules)
        if self.partition_slice.number == 0 and (rejected := self.log.rejected()) is not None:
            add_unreadable(rows, rejected)
        into.take(rows)

    def facts(self, groups: GroupPass) -> OffsetFacts:
        held = self.earlier.rows_without(STATE_ROWS, groups.states)
        empty = empty_stretches([groups.closed.table(STATE_ROWS), groups.open.table(STATE_ROWS), held])
        seen = self.run_input.rules.topic_deletions
        of_log = topic_deletions(self.survey.all_tombstones())
        times = pa.timestamp("us", "UTC")
        of_snapshots = pa.table(
            {
                "topic": pa.array([topic for topic, _, _ in seen], pa.string()),
                "from_time": pa.array([first for _, first, _ in seen], pa.int64()).cast(times),
                "to_time": pa.array([last for _, _, last in seen], pa.int64()).cast(times),
            }
        )
        deletions = pa.concat_tables([of_snapshots, of_log.cast(of_snapshots.schema)])
        rules = self.run_input.rules
        return OffsetFacts(self.gaps, rules.retention_ms, groups.group_tombstones(), empty, deletions)

    def handovers(self, groups: GroupPass) -> Handovers:
        waiting = self.earlier.rows(WAITING)
        is_touched = in_groups(waiting, groups.states)
        made = pa.concat_tables([groups.closed.table(MOVES), groups.open.table(MOVES)])
        owners = pa.concat_tables([groups.closed.table(OWNERSHIP), groups.open.table(OWNERSHIP)])
        held = of_groups(self.earlier.rows(OWNERSHIP), groups.states)
        departures = Departures.of(pa.concat_tables(groups.departures), owners)
        ends = pa.concat_tables([groups.closed.table(ENDS), groups.open.table(ENDS)])
        moves, ends = moves_to_ask(made, ends, waiting, is_touched)
        snapshots = self.run_input.end_offsets
        return Handovers(
            owners=owners,
            moves=moves,
            ends=ends,
            departures=departures,
            held_owners=held,
            waiting=waiting,
            through=self.through,
            last_hole=self.last_hole,
            group_times={name: group.time for name, group in groups.fold.groups.items()},
            snapshots=snapshots,
        )

    def add_simple(self, fold: Fold, groups: GroupPass, finished: Finished) -> None:
        live: dict[str, list[Live]] = {}
        liveness = finished.liveness
        times = [liveness.column(name).cast(pa.int64()).to_pylist() for name in ("from_time", "to_time")]
        names = ("group_id", "from_record_offset", "to_record_offset", "is_cut")
        groups_of, firsts, lasts, cuts = (liveness.column(name).to_pylist() for name in names)
        for group_id, *span in zip(groups_of, firsts, times[0], lasts, times[1], cuts, strict=True):
            live.setdefault(group_id, []).append(Live(*span))
        closed, opened = RowsByTable(), RowsByTable()
        replayed = Replayed(self.gaps, self.through, self.unseen, merged_spans(finished.possible))
        add_simple_groups(closed, opened, live, fold.existence, replayed)
        groups.closed.take(closed)
        groups.open.take(opened)

    def write_rows(
        self, groups: GroupPass, handovers: Handovers, finished: Finished, changeable: Collection[str]
    ) -> None:
        answers = handovers.answers(finished.answers)
        kinds = handovers.leave_kinds(answers, self.gaps)
        answered = handovers.answered_moves(answers, kinds)
        self.awaited = answered.awaited
        groups.closed.of[MEMBERSHIP] = [handovers.departures.with_leave_kinds(groups.closed.table(MEMBERSHIP), kinds)]
        left = handovers.departures.by_group(kinds)
        details = settled_details(pa.concat_tables(groups.unclear), left)
        rebalances = answered.with_costs(self.rebalances(groups, details))
        moves, waiting = answered.rows(rebalances)
        owners = handovers.answered_owners(answers)
        for name, rows in ((OWNERSHIP, owners), (MOVES, moves), (WAITING, waiting), (REBALANCES, rebalances)):
            self.write(name, rows)
        for of in (groups.closed, groups.open):
            for name in of.of:
                if name not in (OWNERSHIP, MOVES, ENDS, REBALANCES):
                    self.write(name, of.table(name))
        self.settle_states(groups, handovers.departures.groups(), left, details)
        for name in (*CARRIED, OWNERSHIP):
            self.write(name, self.earlier.rows_without(name, groups.states))
        self.write(HISTORY, self.earlier.rows_without(HISTORY, changeable))
        held = self.earlier.rows(STATE_ROWS)
        # If the type of some groups is unknown, it is NULL, which counts as classic like the others.
        is_classic = pc.equal(held.column("group_type"), "classic").fill_null(True)
        is_simple = pc.and_(is_classic, held.column("generation_or_epoch").is_null())
        self.write(STATE_ROWS, without_groups(held.filter(is_simple), changeable))
        self.write(STATE_ROWS, without_groups(held.filter(pc.invert(is_simple)), groups.states))

    def rebalances(self, groups: GroupPass, details: Details) -> pa.Table:
        """Those of this run, and rows of earlier ones that may change: of groups without records, or because commits
        may end their unread time."""
        made = [with_details(of.table(REBALANCES), details) for of in (groups.closed, groups.open)]
        held = self.earlier.rows(REBALANCES)
        is_made_again = pc.and_(pc.equal(held.column("outcome"), RebalanceOutcome.OPEN), in_groups(held, groups.states))
        return pa.concat_tables([*made, held.filter(pc.invert(is_made_again))])

    def settle_states(
        self, groups: GroupPass, departed: Collection[str], left: Mapping[str, HowLeft], details: Details
    ) -> None:
        """Adds what commits and times show to the states of groups, for later runs. `departed`: groups of which members
        left."""
        changed_details: dict[str, dict[int, str | None]] = {}
        for (group_id, offset), text in details.items():
            changed_details.setdefault(group_id, {})[offset] = text
        unfinished = groups.open.table(REBALANCES)
        named = (unfinished.column(name).to_pylist() for name in ("group_id", "assignment_offset"))
        changed = {each[0] for each in zip(*named, strict=True) if each in details}
        for group_id in {*departed, *changed} & groups.states.keys():
            answers = left.get(group_id, {}), changed_details.get(group_id, {})
            groups.states[group_id] = with_answers(groups.states[group_id], *answers)

    def write_states(
        self, groups: GroupPass, finished: Finished, states: pa.Table, offsets: pa.Table, changeable: Collection[str]
    ) -> None:
        place = {"cluster": self.run_input.cluster, "offsets_partition": self.partition_slice.partition}
        made = [{**place, "group_id": group_id, "state": state} for group_id, state in groups.states.items()]
        self.write(STATES, pa.Table.from_pylist(made, table_schema(TABLES[STATES])))
        self.write(STATES, without_groups(states, groups.states))
        self.files.write(OFFSETS, finished.state, self.partition_slice.partition, is_ordered=True)
        self.write(OFFSETS, without_groups(offsets, changeable))

    def note_topics(self, groups: GroupPass, of_commits: pa.Table) -> None:
        known = {each.key: each for each in self.progress.sightings}
        merge(known, [*groups.sightings.values(), *sightings_of(of_commits)])
        self.progress.sightings = list(known.values())
        named, proved = (
            steps(pa.concat_tables([of_groups, of_commits]).unify_dictionaries())
            for of_groups in (groups.named.table(), groups.named.proved_table())
        )
        if self.progress.proved is not None:
            self.progress.proved = merged(self.progress.proved, proved)
        self.progress.named = merged(self.progress.named, named) if self.progress.named else named

    def note_progress(self) -> None:
        sure = self.run_input.sure_names
        ends, progress = self.run_input.end_offsets, self.progress
        progress.awaited = sorted({*still_awaited(ends, progress.awaited), *self.awaited})
        progress.snapshots_through = ends.through_time
        unnamed = {topic_id for _, topic_id in self.topics.topics if topic_id is not None and topic_id not in sure}
        self.progress.unnamed_topic_ids = sorted({*self.progress.unnamed_topic_ids, *unnamed})

    def write(self, name: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self.files.write(name, rows, self.partition_slice.partition)
