"""The replay job."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jobs.configuration.settings import settings_hash
from jobs.ingestion.driver.covered_ranges import covered_ranges
from jobs.ingestion.driver.damaged_ranges import damaged_ranges
from jobs.replaying.log_run import LogRun
from jobs.replaying.task.messages import LogTaskResult, Work
from jobs.replaying.task.replay_messages import Progress, ReplayInput
from jobs.replaying.task.snapshot_rules import end_offsets_of, rules_of, snapshots_of
from jobs.replaying.task.warehouse_state import (
    INPUTS,
    JOB,
    WRITTEN,
    has_seen,
    last_run,
    progress_by_partition,
)
from jobs.replaying.whole_tables import whole_tables
from udfs.log.leader_epochs import NO_EPOCH
from udfs.log.release_lines import BY_RELEASE, Sign, early_time, merged_signs
from udfs.topics.growths import Growths
from udfs.topics.least_partitions import merged
from udfs.topics.names import Sighting, Snapshots, merge, names_of

if TYPE_CHECKING:
    from jobs.replaying.log_tables import LogTables


class Replay(LogRun):
    written = WRITTEN
    progress_type = Progress
    least_records = 200_000
    # Topics whose names follow from what groups were assigned.
    inferred: Sequence[Sighting] = ()

    @property
    def task_function(self) -> Work:
        from jobs.replaying.partition.replay_task import replay_slice

        return replay_slice

    def is_up_to_date(self) -> bool:
        """The release in the settings may have changed too."""
        last = last_run(self.runs, JOB, self.cluster)
        is_same = last is not None and last["config_hash"] == settings_hash(self.settings)
        return is_same and has_seen(last, INPUTS, self.warehouse.versions())

    def answers(self, tables: "LogTables") -> list[LogTaskResult[Any]]:
        from jobs.replaying.partition.replay_task import partitions_to_replay, rules_text

        earlier = {} if self.is_full else progress_by_partition(self.warehouse, self.cluster)
        snapshots = snapshots_of(self.warehouse, self.cluster)
        run_input = self.run_input(tables, earlier, snapshots)
        after = {partition: each.through_run_id for partition, each in earlier.items()}
        sizes = tables.sizes({*run_input.covered, *earlier}, after)
        chosen = partitions_to_replay(run_input, sizes.all)
        answers = self.without_failures(tables.answers(run_input, sizes.only(chosen)) if chosen else [])
        made = progress_of_all(answers)
        whole = {partition for each in answers for partition in each.whole}
        for partition, each in made.items():
            each.rules = rules_text(run_input, each)
            each.signs = run_input.signs.get(partition, ())
            each.whole_run_id = self.run_id if partition in whole else earlier[partition].whole_run_id
        progress = earlier | made
        tables.take(answers, whole_tables(self.cluster, progress.values(), snapshots, self.inferred))
        return answers

    def run_input(self, tables: "LogTables", earlier: Mapping[int, Progress], snapshots: Snapshots) -> ReplayInput:
        sightings = {each.key: each for each in snapshots.sightings()}
        for known in earlier.values():
            merge(sightings, known.sightings)
        merge(sightings, tables.names(min((each.through_run_id for each in earlier.values()), default=None)))
        names = names_of(sightings.values())
        covered = covered_ranges(self.warehouse, self.cluster)
        self.inferred = self.inferred_names(tables, earlier, covered, names)
        rules = rules_of(self.warehouse, self.cluster, snapshots, max(covered, default=-1))
        signs = self.signs(tables, earlier)
        release = self.settings.broker.release
        if rules.num_offsets_partitions is None:
            rules = replace(rules, split_groups=tables.split_groups(covered))
        return ReplayInput(
            cluster=self.cluster,
            run_id=self.run_id,
            through_run_id=self.newest_run(),
            earlier=earlier,
            root=self.warehouse.root,
            covered=covered,
            names={**names_of(self.inferred), **names},
            rules=replace(rules, inferred_names=tuple(sorted(names_of(self.inferred).items()))),
            damage=damaged_ranges(self.warehouse, self.cluster),
            end_offsets=end_offsets_of(self.warehouse, self.cluster),
            growths=Growths.of(snapshots.topics),
            signs=signs,
            early=early_time(sign for of_partition in signs.values() for sign in of_partition),
            line=BY_RELEASE[release].name if release else None,
        )

    def signs(self, tables: "LogTables", earlier: Mapping[int, Progress]) -> dict[int, tuple[Sign, ...]]:
        """By offsets partition, what records show of the brokers' releases. Those of earlier runs are remembered."""
        is_known = all(each.signs is not None for each in earlier.values())
        first = min((each.through_run_id for each in earlier.values()), default=None) if is_known else None
        new = tables.signs(first)
        held = {partition: each.signs or () for partition, each in earlier.items()}
        # Another copy may have given leader epochs to records that had none.
        if any(
            any(each.epoch == NO_EPOCH for each in held.get(partition, ())) and signs[-1].epoch != NO_EPOCH
            for partition, signs in new.items()
        ):
            return tables.signs(None)
        return {each: merged_signs(held.get(each, ()), new.get(each, ())) for each in {*held, *new}}

    def inferred_names(
        self, tables: "LogTables", earlier: Mapping[int, Progress], covered: Collection[int], known: Mapping[str, str]
    ) -> list[Sighting]:
        """Names of ids that no record names, from what groups were assigned. Ids of earlier runs are remembered."""
        after = {partition: each.through_run_id for partition, each in earlier.items()}
        ids = {topic_id for each in earlier.values() for topic_id in each.unnamed_topic_ids}
        ids |= tables.target_ids(sorted(covered), after)
        unnamed = ids - known.keys()
        if not unnamed:
            return []
        from jobs.replaying.log.inferred_names import infer_names

        return infer_names(tables.computed(sorted(covered), unnamed, known), known, tables.committed)

    def own_result(self, answers: Sequence[LogTaskResult[Any]]) -> dict[str, Any]:
        whole = {partition for each in answers for partition in each.whole}
        return {"num_partitions_replayed_whole": len(whole), "release": self.settings.broker.release}


def progress_of_all(answers: Sequence[LogTaskResult[Progress]]) -> dict[int, Progress]:
    """By offsets partition. Each slice of a partition has seen the topics of its own groups."""
    by_partition: dict[int, Progress] = {}
    for progress in (progress for each in answers for progress in each.progress):
        known = by_partition.setdefault(progress.partition, progress)
        if known is not progress:
            sightings = {each.key: each for each in known.sightings}
            merge(sightings, progress.sightings)
            known.sightings = list(sightings.values())
            known.unnamed_topic_ids = sorted({*known.unnamed_topic_ids, *progress.unnamed_topic_ids})
            known.named = merged(known.named, progress.named)
            if known.proved is not None:
                known.proved = None if progress.proved is None else merged(known.proved, progress.proved)
            known.awaited = sorted({*known.awaited, *progress.awaited})
    return by_partition
