"""The assignments job: recomputes assignments."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.configuration.settings import settings_hash
from jobs.ingestion.driver.covered_ranges import covered_ranges
from jobs.ingestion.driver.state import DECODED
from jobs.recomputing.facts import Progress, RecomputingInput, basis_of, facts_of
from jobs.replaying.left_out import groups_left_out
from jobs.replaying.log.partition import GROUP_TABLES
from jobs.replaying.log_run import LogRun
from jobs.replaying.tables.written_tables import WrittenTables
from jobs.replaying.task.messages import LogTaskResult, Work
from jobs.replaying.task.run_facts import Begins, Sizes
from jobs.replaying.task.warehouse_state import has_seen, last_run, rows_of
from schemas.tables import TABLES
from schemas.words.assignments import Verdict
from udfs.arrays.arrow_schema import table_schema
from udfs.audit.checks.facts import Facts

if TYPE_CHECKING:
    from jobs.replaying.log_tables import LogTables

PROGRESS = "recomputed_partitions"
# Tables about groups. All of their rows may still change.
RENEWED = (TABLES["assignment_whatif"], TABLES["assignor_upgrades"], TABLES["recomputed_groups"])
WRITTEN = WrittenTables(
    "assignments", whole=(PROGRESS,), renewed=tuple(table.name for table in RENEWED), read=GROUP_TABLES
)  # fmt: skip
INPUTS = (*DECODED, "cluster_snapshots", "topic_snapshots", "topics", "replayed_partitions")


class Recomputation(LogRun):
    written = WRITTEN
    progress_type = Progress
    least_records = 500
    records_per_partition = 25
    # Reading takes little time beside recomputing.
    parts_per_worker = 2

    @property
    def task_function(self) -> Work:
        from jobs.recomputing.task import recompute_slice

        return recompute_slice

    def is_up_to_date(self) -> bool:
        """Rules in the settings may have changed too."""
        last = last_run(self.runs, "assignments", self.cluster)
        is_same = last is not None and last["config_hash"] == settings_hash(self.settings)
        return is_same and has_seen(last, INPUTS, self.warehouse.versions())

    @cached_property
    def known(self) -> dict[int, Progress]:
        """Progress of earlier runs, by offsets partition."""
        rows = rows_of(self.warehouse, PROGRESS, self.cluster)
        return {row["offsets_partition"]: Progress.from_plain(row) for row in rows}

    @cached_property
    def reached(self) -> dict[int, Progress]:
        """Progress after this run."""
        return dict(self.known)

    def answers(self, tables: "LogTables") -> list[LogTaskResult[Any]]:
        known = {} if self.is_full else self.known
        partitions = sorted({*covered_ranges(self.warehouse, self.cluster), *known})
        begins = merged_begins(known, tables.epochs(partitions, after_run(known)))
        facts = facts_of(self.warehouse, self.cluster, self.settings)
        left_out = groups_left_out(self.warehouse, self.cluster)
        standing = {
            place: each
            for place, each in known.items()
            if has_same_inputs(each, facts, begins[place], left_out.get(place, ()))
        }
        sizes = tables.sizes(partitions, after_run(standing))
        chosen = [place for place in partitions if place not in standing or sizes.of_groups[place]]
        run_input = RecomputingInput(
            cluster=self.cluster,
            run_id=self.run_id,
            through_run_id=self.newest_run(),
            earlier=standing,
            root=self.warehouse.root,
            facts=facts,
            begins=begins,
            left_out=left_out,
        )
        of_groups = Sizes(sizes.of_groups, sizes.of_groups).only(chosen)
        answers = self.without_failures(tables.answers(run_input, of_groups) if chosen else [])
        self.reached = progress_after(run_input, answers)
        rows = [self.reached[place].row(self.cluster) for place in sorted(self.reached)]
        tables.take(answers, {PROGRESS: pa.Table.from_pylist(rows, table_schema(TABLES[PROGRESS]))})
        return answers

    def own_result(self, answers: Sequence[LogTaskResult[Any]]) -> dict[str, Any]:
        new = by_verdict(progress for each in answers for progress in each.progress)
        return {
            "num_partitions_recomputed_whole": len({partition for each in answers for partition in each.whole}),
            "num_assignments": sum(new.values()),
            "verdicts": new,
            "all_verdicts": by_verdict(self.reached.values()),
        }


def after_run(known: Mapping[int, Progress]) -> dict[int, str]:
    return {place: each.through_run_id for place, each in known.items()}


def merged_begins(known: Mapping[int, Progress], new: Begins) -> dict[int, dict[int, int]]:
    merged = {place: dict(begins) for place, begins in new.items()}
    for place, each in known.items():
        for epoch, first in each.leader_epochs.items():
            merged[place][epoch] = min(first, merged[place].get(epoch, first))
    return merged


def has_same_inputs(progress: Progress, facts: Facts, begins: Mapping[int, int], left_out: Collection[str]) -> bool:
    """Whether earlier runs had the same inputs: the facts outside the log, and the first offsets of leaders."""
    if basis_of(facts, progress, left_out) != progress.basis:
        return False
    through = -1 if progress.through_offset is None else progress.through_offset
    return all(first > through or progress.leader_epochs.get(epoch) == first for epoch, first in begins.items())


def progress_after(run_input: RecomputingInput, answers: Sequence[LogTaskResult[Any]]) -> dict[int, Progress]:
    """Also for offsets partitions without new records of groups: their progress is as far as the run has read."""
    by_partition = {
        place: replace(each, through_run_id=run_input.through_run_id, leader_epochs=dict(run_input.begins[place]))
        for place, each in run_input.earlier.items()
    }
    whole = {partition for each in answers for partition in each.whole}
    done: dict[int, Progress] = {}
    for progress in (progress for each in answers for progress in each.progress):
        if progress.partition in done:
            done[progress.partition].add(progress)
        else:
            done[progress.partition] = replace(progress)
    for place, progress in done.items():
        progress.basis = basis_of(run_input.facts, progress, run_input.left_out.get(place, ()))
        if place not in whole:
            progress.verdicts = progress.verdicts + by_partition[place].verdicts
    return by_partition | done


def by_verdict(progress: Iterable[Progress]) -> dict[str, int]:
    numbers = sum((each.verdicts for each in progress), Counter[str]())
    return {verdict.value: numbers[verdict.value] for verdict in Verdict}
