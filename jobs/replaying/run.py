"""One run of a replay, from what decoded tables hold to what `runs` says of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.failure import Failure
from jobs.replaying.assignment import Answer, Assignment, Progress
from jobs.replaying.changes import whole_tables
from jobs.replaying.covered_ranges import covered_ranges
from jobs.replaying.known_state import (
    JOB,
    WRITTEN,
    progress_by_partition,
    rules_of,
    snapshots_of,
    unchanged_since,
)
from jobs.replaying.local_tables import LocalTables
from jobs.replaying.plan import partitions_to_replay
from jobs.replaying.tables import About, ReplayTables
from jobs.run_result import iso, now_ms, run_id_of, run_row
from jobs.settings import Settings, settings_hash
from jobs.spark.tasks import Workers
from jobs.warehouses.any_warehouse import AnyWarehouse, one_cluster
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.manifest import Manifest, Staged
from jobs.warehouses.warehouse import STAGING, Warehouse
from schemas.exit_codes import ExitCode
from udfs.replay.topic_names import Snapshots, merge, names_of


class Replay:
    """One run. `is_full`: as if there had been none before."""

    def __init__(
        self, warehouse: AnyWarehouse, cluster: str | None, settings: Settings, workers: Workers, *, is_full: bool
    ) -> None:
        self.warehouse, self.settings, self.workers, self.is_full = warehouse, settings, workers, is_full
        self.started_ms = now_ms()
        self.sequence = warehouse.next_sequence()
        self.run_id = run_id_of(self.sequence, self.started_ms)
        self.cluster = one_cluster(warehouse, cluster)
        self.runs = warehouse.run_rows(["run_id", "job", "cluster", "table_versions"])
        if not any(row["cluster"] == self.cluster for row in self.runs):
            told = f"{warehouse.told}: nothing of cluster {self.cluster} in it, records of an ingest were expected"
            raise Failure(ExitCode.USAGE, told)

    def run(self) -> dict[str, Any]:
        answers: list[Answer] = []
        tables = None
        if self.is_full or not unchanged_since(self.runs, self.cluster, self.warehouse.versions()):
            tables = self.tables()
            answers = self.replay(tables)
        failpoint("files_written")
        changes = {name: Change() for name in WRITTEN} if tables is None else tables.manifest_changes()
        found = self.summary(answers, {} if tables is None else tables.rows_added())
        finished_ms = max(now_ms(), self.started_ms)
        found |= {"finished_time": iso(finished_ms), "seconds": round((finished_ms - self.started_ms) / 1000, 3)}
        counts = {"num_offsets_partitions": found["num_partitions"]}
        row = run_row(found, self.started_ms, finished_ms, settings_hash(self.settings), counts)
        staged = self.nothing_staged() if tables is None else tables.staged()
        self.warehouse.write(Manifest(self.run_id, self.sequence, finished_ms, changes, (row,), staged))
        if tables is not None:
            tables.clean_up()
        return found

    def tables(self) -> ReplayTables:
        about = About(self.cluster, self.run_id, self.settings)
        if isinstance(self.warehouse, Warehouse):
            return LocalTables(self.warehouse, self.workers, about)
        from jobs.replaying.staged_tables import StagedTables

        return StagedTables(self.warehouse, self.workers, about)

    def nothing_staged(self) -> Staged | None:
        """Where Spark writes it writes the row of `runs` too."""
        if isinstance(self.warehouse, Warehouse):
            return None
        folder = f"{self.warehouse.place(STAGING)}/{self.run_id}"
        return Staged(folder, (), self.cluster, (), (), self.settings.tables, "auto")

    def replay(self, tables: ReplayTables) -> list[Answer]:
        earlier = {} if self.is_full else progress_by_partition(self.warehouse, self.cluster)
        snapshots = snapshots_of(self.warehouse, self.cluster)
        assignment = self.assignment(tables, earlier, snapshots)
        after = {partition: each.through_run_id for partition, each in earlier.items()}
        sizes = tables.sizes({*assignment.covered, *earlier}, after)
        chosen = partitions_to_replay(assignment, sizes.all)
        answers = tables.answers(assignment, sizes.only(chosen)) if chosen else []
        for each in answers:
            if each.failure is not None:
                tables.clean_up()
                raise Failure(*each.failure)
        progress = earlier | progress_of_all(answers)
        tables.take(answers, whole_tables(self.cluster, progress.values(), snapshots), is_full=self.is_full)
        return answers

    def assignment(self, tables: ReplayTables, earlier: Mapping[int, Progress], snapshots: Snapshots) -> Assignment:
        sightings = {each.key: each for each in snapshots.sightings()}
        for known in earlier.values():
            merge(sightings, known.sightings)
        merge(sightings, tables.names(min((each.through_run_id for each in earlier.values()), default=None)))
        return Assignment(
            self.cluster,
            self.run_id,
            max(row["run_id"] for row in self.runs),
            covered_ranges(self.warehouse, self.cluster),
            names_of(sightings.values()),
            rules_of(self.warehouse, self.cluster, snapshots),
            earlier,
        )

    def summary(self, answers: Sequence[Answer], rows_added: Mapping[str, int]) -> dict[str, Any]:
        partitions = {progress.partition for each in answers for progress in each.progress}
        whole = {partition for each in answers for partition in each.whole}
        return {
            "run_id": self.run_id,
            "job": JOB,
            "cluster": self.cluster,
            "verdict": "clean",
            "exit_code": int(ExitCode.CLEAN),
            "started_time": iso(self.started_ms),
            "num_partitions": len(partitions),
            "num_partitions_replayed_whole": len(whole),
            "num_records": sum(each.num_records for each in answers),
            "num_groups": sum(each.num_groups for each in answers),
            "rows_added": dict(rows_added),
        }


def progress_of_all(answers: Sequence[Answer]) -> dict[int, Progress]:
    """By offsets partition; slices of one have each seen the topics of their own groups."""
    found: dict[int, Progress] = {}
    for progress in (progress for each in answers for progress in each.progress):
        known = found.setdefault(progress.partition, progress)
        if known is not progress:
            sightings = {each.key: each for each in known.sightings}
            merge(sightings, progress.sightings)
            known.sightings = list(sightings.values())
            known.unnamed_topic_ids = sorted({*known.unnamed_topic_ids, *progress.unnamed_topic_ids})
    return found
