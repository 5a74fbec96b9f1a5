"""The tables that a run reads and writes: tasks read and write their files, and the driver adds these to the Delta
logs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from jobs.engine.engine import Engine
from jobs.engine.task import Step
from jobs.replaying.changes import Changes
from jobs.replaying.log.committed_partitions import committed_in
from jobs.replaying.log.inferred_names import TARGETS, TOPIC_IDS, computed_in, topic_ids
from jobs.replaying.log.leader_epochs import epoch_begins
from jobs.replaying.log.opened import Opened
from jobs.replaying.log.partition import GROUP_TABLES, PartitionLog
from jobs.replaying.log.release_signs import COMMITS, SHOWN, Signs, signs_in
from jobs.replaying.log.row_groups import LogFile, Wanted
from jobs.replaying.log.topic_names import COLUMNS, named_in
from jobs.replaying.task.messages import LogTaskResult, RunInput
from jobs.replaying.task.plan import TASKS_PER_WORKER, rows_by_partition, slices_of, slices_of_tasks, task_spec
from jobs.replaying.task.replay_messages import SplitGroups
from jobs.replaying.task.run_facts import About, Begins, Sizes
from jobs.replaying.task.split_groups import split_groups
from jobs.replaying.task.task import answer_to
from jobs.replaying.task.warehouse_state import WRITTEN as HISTORIES
from jobs.replaying.task.warehouse_state import KnownHistory, decoded_files, is_of_run
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.warehouse import Warehouse
from udfs.audit.modern.topic_names import CommittedPartitions, TargetNames
from udfs.topics.names import Sighting


@dataclass
class LogTables:
    warehouse: Warehouse
    engine: Engine
    about: About

    def __post_init__(self) -> None:
        self.files: dict[str, list[LogFile]] = decoded_files(self.warehouse)
        self.histories = KnownHistory(self.warehouse, self.about.cluster, HISTORIES, is_full=False)
        self.known = KnownHistory(self.warehouse, self.about.cluster, self.about.written, is_full=self.about.is_full)
        self.opened = Opened()
        self.changes = Changes(self.warehouse, self.about.run_id, self.known)

    def names(self, after_run: str | None) -> list[Sighting]:
        """Topic names with ids in records of later runs."""
        return [
            sighting
            for name in COLUMNS
            for sighting in named_in(
                is_of_run(self.files.get(name, []), after_run), name, self.about.cluster, self.opened
            )
        ]

    def signs(self, after_run: str | None) -> Signs:
        """By offsets partition, what records of later runs show of the brokers' releases."""
        files = {name: is_of_run(self.files.get(name, []), after_run) for name in (*SHOWN, COMMITS)}
        return signs_in(files, self.about.cluster, self.opened)

    def target_ids(self, partitions: Collection[int], after_run: Mapping[int, str]) -> set[str]:
        """Topic ids in target assignments of later runs."""
        logs = (self.log(partition, after_run.get(partition)) for partition in partitions)
        return set().union(*(topic_ids(rows) for log in logs for rows in log.parts(TARGETS, [TOPIC_IDS[0]])))

    def computed(self, partitions: Collection[int], unnamed: set[str], known: Mapping[str, str]) -> list[TargetNames]:
        """What target assignments show about ids without a name."""
        return [each for partition in partitions for each in computed_in(self.log(partition, None), unnamed, known)]

    def committed(self, names: set[str]) -> CommittedPartitions:
        """What commits of all runs name of these topics, without their ids."""
        return committed_in(self.files.get(COMMITS, []), names, self.about.cluster, self.opened)

    def log(self, partition: int, after_run: str | None) -> PartitionLog:
        files = {name: self.files.get(name, []) for name in GROUP_TABLES}
        return PartitionLog(Wanted(self.about.cluster, partition, after_run), files, self.opened)

    def split_groups(self, partitions: Collection[int]) -> SplitGroups:
        """Groups with records in several of these offsets partitions."""
        return split_groups(self.files, self.about.cluster, partitions, self.opened)

    def sizes(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Sizes:
        return Sizes(
            self.rows_of_tables([*self.files], partitions, after_run),
            self.rows_of_tables(GROUP_TABLES, partitions, after_run),
        )

    def rows_of_tables(
        self, names: Iterable[str], partitions: Collection[int], after_run: Mapping[int, str]
    ) -> dict[int, int]:
        """By offsets partition, of later runs."""
        files = {name: self.files.get(name, []) for name in names}
        return rows_by_partition(files, self.about.cluster, partitions, after_run, self.opened)

    def epochs(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Begins:
        return epoch_begins(self.files, self.about.cluster, partitions, after_run, self.opened)

    def answers(self, run_input: RunInput[Any], sizes: Sizes) -> list[LogTaskResult[Any]]:
        results = self.run_tasks(run_input, sizes)
        if torn := {partition for each in results for partition in each.insufficient}:
            earlier = {partition: each for partition, each in run_input.earlier.items() if partition not in torn}
            results = self.run_tasks(replace(run_input, earlier=earlier), sizes)
        return results

    def run_tasks(self, run_input: RunInput[Any], sizes: Sizes) -> list[LogTaskResult[Any]]:
        written, work = self.about.written, self.about.work
        held = {name: self.known.of(name, may_change=True) for name in written.of_partitions if run_input.earlier}
        files = {name: self.files_to_read(name) for name in written.read}
        whole = replace(run_input, files=files, held=held)
        costs = {partition: size + self.about.records_per_partition for partition, size in sizes.all.items()}
        most = max(1, sum(costs.values()) // self.about.least_records)
        num_parts = self.engine.num_workers * self.about.parts_per_worker
        slices = slices_of(costs, sizes.of_groups, min(most, num_parts))
        of_tasks = slices_of_tasks(slices, costs, min(most, self.engine.num_workers * TASKS_PER_WORKER))
        step = Step(partial(answer_to, work), LogTaskResult[self.about.progress_type])  # type: ignore[name-defined]
        return self.engine.run(step, [task_spec(whole, each, sizes.all) for each in of_tasks])

    def files_to_read(self, name: str) -> Sequence[LogFile]:
        """Files of a decoded table, or of one of the replay's tables."""
        if name not in HISTORIES.names:
            return self.files.get(name, [])
        return [each for may_change in (True, False) for each in self.histories.of(name, may_change=may_change)]

    def take(self, answers: Sequence[LogTaskResult[Any]], whole: Mapping[str, pa.Table]) -> None:
        """Collects what the run writes: the files of tasks, and tables that are replaced as a whole."""
        self.changes.take(answers)
        self.changes.replace_whole(whole)
        self.changes.close()

    def manifest_changes(self) -> dict[str, Change]:
        return self.changes.of_tables(self.about.settings.tables)

    def anew(self) -> tuple[str, ...]:
        """Tables that are created again, since they cannot be read."""
        return tuple(sorted(self.known.anew))

    def lost_clusters(self) -> frozenset[str]:
        """Other clusters that lose rows with the lost tables or files."""
        return frozenset(self.known.lost)

    def rows_added(self) -> dict[str, int]:
        return self.changes.net_rows()
