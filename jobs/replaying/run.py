"""One run of a replay, from what decoded tables hold to what `runs` says of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.failure import Failure
from jobs.replaying.assignment import Answer, Assignment, Progress
from jobs.replaying.changes import Changes, whole_tables
from jobs.replaying.covered_ranges import covered_ranges
from jobs.replaying.known_state import (
    JOB,
    WHOLE,
    WRITTEN,
    decoded_files,
    history_files,
    is_of_run,
    progress_by_partition,
    rules_of,
    snapshots_of,
    unchanged_since,
)
from jobs.replaying.partition_log import GROUP_TABLES
from jobs.replaying.plan import TASKS_PER_CORE, buckets, partitions_to_replay, rows_by_partition, shares
from jobs.replaying.record_names import COLUMNS, named_in
from jobs.replaying.tasks import answer
from jobs.run_result import iso, now_ms, run_id_of, run_row
from jobs.settings import Settings, settings_hash
from jobs.spark.tasks import Workers
from jobs.warehouses.any_warehouse import one_cluster
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.warehouse import Warehouse
from schemas.exit_codes import ExitCode
from udfs.replay.topic_names import Snapshots, merge, names_of


class Replay:
    """One run. `is_full`: as if there had been none before."""

    def __init__(
        self, warehouse: Warehouse, cluster: str | None, settings: Settings, workers: Workers, *, is_full: bool
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
        changes = Changes(self.warehouse, self.cluster, self.run_id)
        answers: list[Answer] = []
        if self.is_full or not unchanged_since(self.runs, self.cluster, self.warehouse.versions()):
            answers = self.replay(changes)
        failpoint("files_written")
        found = self.summary(answers, changes)
        tables = changes.of_tables(self.settings.tables)
        finished_ms = max(now_ms(), self.started_ms)
        found |= {"finished_time": iso(finished_ms), "seconds": round((finished_ms - self.started_ms) / 1000, 3)}
        counts = {"num_offsets_partitions": found["num_partitions"]}
        row = run_row(found, self.started_ms, finished_ms, settings_hash(self.settings), counts)
        self.warehouse.write(Manifest(self.run_id, self.sequence, finished_ms, tables, (row,)))
        return found

    def replay(self, changes: Changes) -> list[Answer]:
        earlier = {} if self.is_full else progress_by_partition(self.warehouse, self.cluster)
        snapshots = snapshots_of(self.warehouse, self.cluster)
        assignment = self.assignment(earlier, snapshots)
        after = {partition: each.through_run_id for partition, each in earlier.items()}
        sizes = rows_by_partition(assignment.files, self.cluster, {*assignment.covered, *earlier}, after)
        chosen = partitions_to_replay(assignment, sizes)
        answers = self.answers(assignment, {partition: sizes[partition] for partition in chosen})
        for each in answers:
            if each.failure is not None:
                raise Failure(*each.failure)
        changes.take(answers, is_full=self.is_full)
        progress = earlier | progress_of_all(answers)
        changes.replace_whole(whole_tables(self.cluster, progress.values(), snapshots))
        return answers

    def assignment(self, earlier: Mapping[int, Progress], snapshots: Snapshots) -> Assignment:
        files = decoded_files(self.warehouse)
        newest = min((each.through_run_id for each in earlier.values()), default=None)
        sightings = {each.key: each for each in snapshots.sightings()}
        for known in earlier.values():
            merge(sightings, known.sightings)
        for name in COLUMNS:
            merge(sightings, named_in(is_of_run(files.get(name, []), newest), name, self.cluster))
        held = {} if not earlier else {
            name: history_files(self.warehouse, name, self.cluster, may_change=True)
            for name in WRITTEN
            if name not in WHOLE
        }  # fmt: skip
        return Assignment(
            self.warehouse.root,
            self.cluster,
            self.run_id,
            max(row["run_id"] for row in self.runs),
            files,
            held,
            covered_ranges(self.warehouse, self.cluster),
            names_of(sightings.values()),
            rules_of(self.warehouse, self.cluster, snapshots),
            earlier,
        )

    def answers(self, assignment: Assignment, sizes: Mapping[int, int]) -> list[Answer]:
        if not sizes:
            return []
        of_groups = {name: assignment.files.get(name, []) for name in GROUP_TABLES}
        after = {partition: each.through_run_id for partition, each in assignment.earlier.items()}
        group_records = rows_by_partition(of_groups, self.cluster, sizes, after)
        if sum(sizes.values()) < self.settings.replay.spark_from_records:
            return [answer(assignment, shares(sizes, group_records, 1))]
        # Here, since most runs do without Spark.
        from jobs.replaying.spark_tasks import replayed

        num_cores = self.workers.num_cores
        planned = buckets(shares(sizes, group_records, num_cores), sizes, num_cores * TASKS_PER_CORE)
        return replayed(self.workers.spark, assignment, planned)

    def summary(self, answers: Sequence[Answer], changes: Changes) -> dict[str, Any]:
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
            "rows_added": changes.net_rows(),
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
