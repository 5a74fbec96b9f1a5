"""The source `kafka:HOST:PORT[,…]`: a live offsets topic, read by the tasks that decode it, with snapshots of its
cluster.

read = LiveSource(log, state, writer, engine, known_topics).read()
read.answers, read.source_rows(cluster, run_id), read.snapshots
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from jobs.engine.engine import Engine
from jobs.ingestion.driver.changes import Row
from jobs.ingestion.driver.state import LIVE, State
from jobs.ingestion.driver.writer import EarlierKnowledge, IngestWriter
from jobs.ingestion.live.plan import OTHER_CLUSTER, LivePlan, Planner, check_same_id, offsets_topic
from jobs.ingestion.live.span import LiveLog, live_steps
from jobs.ingestion.task.messages import Counts, IngestResult
from jobs.ingestion.task.plan import PartitionSpan, tasks
from jobs.output.failure import Failure, say
from jobs.sources.cluster_snapshot import Snapshot, take_snapshot
from jobs.sources.log_ids import LogIds, NamedId
from schemas.words.exit_codes import ExitCode

if TYPE_CHECKING:
    from jobs.broker.cluster import KafkaCluster


@dataclass
class LiveRead:
    plan: LivePlan
    ids: LogIds
    answers: list[IngestResult] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)

    def source_rows(self, cluster: str, run_id: str) -> list[Row]:
        """Rows of `source_files`. For a live log positions are offsets, and the topic's id and the leader's epoch
        identify the log."""
        by_file = {facts.source_file: facts for answer in self.answers for facts in answer.facts}
        rows = []
        for unit in self.plan.units:
            facts = by_file[name_of(unit)]
            start = unit.first if facts.log_start is None else min(facts.log_start, unit.last + 1)
            row: Row = {
                "cluster": cluster,
                "run_id": run_id,
                "offsets_partition": unit.partition,
                "source_file": facts.source_file,
                "kind": LIVE,
                "size_bytes": facts.read_to,
                "read_from_position": start,
                "read_to_position": unit.last + 1,
                "file_id": self.plan.ids[unit.partition],
                **self.ids.columns(),
            }
            for name in ("first_offset", "last_offset", "num_records", "num_batches", "num_tombstones"):
                row[name] = getattr(facts, name)
            rows.append(row | {"num_delete_horizon_batches": facts.num_delete_horizon_batches})
        return rows


@dataclass(frozen=True)
class LiveSource:
    log: LiveLog
    state: State
    writer: IngestWriter
    engine: Engine
    # Topics for which the warehouse has commits.
    known_topics: Callable[[], Collection[str]]
    clock: Callable[[], int]
    # Fails if the log is not that of the warehouse.
    check_log: Callable[[list[NamedId]], None]
    is_retry: bool = False

    def read(self) -> LiveRead:
        left_out: list[str] = []
        with self.log.connect() as cluster:
            snapshot, topics = self.first_snapshot(cluster, left_out)
            snapshots = [snapshot]
            topic = offsets_topic(self.log, cluster)
            ids = LogIds(cluster.cluster_id, topic.topic_id)
            self.check_log(ids.named(f"kafka:{self.log.servers}"))
            plan = Planner(self.log, self.state, cluster, self.is_retry).plan(topic)
        read = LiveRead(plan, ids, snapshots=snapshots)
        if plan.units:
            read.answers = self.read_units(plan)
        with self.log.connect(is_known_to_answer=True) as cluster:
            # Omissions are reported once, and not together with the line of a failed run.
            snapshots.append(take_snapshot(cluster, topics, self.clock(), lambda _: None))
            check_same_id(self.log, offsets_topic(self.log, cluster), plan.ids.values())
        if all(each.failure is None for each in read.answers):
            check_proofs(self.log, plan, [conflict for each in read.answers for conflict in each.conflicts])
            read.answers += gaps(self.log, plan, read.answers)
            for line in left_out:
                say(line)
        return read

    def first_snapshot(self, cluster: "KafkaCluster", left_out: list[str]) -> tuple[Snapshot, Collection[str]]:
        """If the user may not describe groups, their topics are unknown. Then the warehouse is asked, which has many
        commits, so only then."""
        snapshot = take_snapshot(cluster, (), self.clock(), left_out.append)
        topics = self.known_topics() if left_out else ()
        if topics:
            left_out.clear()
            snapshot = take_snapshot(cluster, topics, self.clock(), left_out.append)
        return snapshot, topics

    def read_units(self, plan: LivePlan) -> list[IngestResult]:
        planned = tasks(plan.units, self.engine.num_workers)
        is_known = any(unit.may_be_known for unit in plan.units)
        earlier = EarlierKnowledge(self.state.rejected, is_known, intact=self.state.intact)
        steps = partial(live_steps, self.log)
        return self.writer.read_units(planned, self.writer.task_input(earlier), steps)


def name_of(unit: PartitionSpan) -> str:
    return unit.copies[0][0].span.name


def check_proofs(log: LiveLog, plan: LivePlan, conflicts: Sequence[tuple[int, int]]) -> None:
    """Fails if the record at the end of what is known has another leader epoch: then the warehouse has records that
    were truncated."""
    for number, offset in conflicts:
        if (number, offset) in plan.proofs:
            line = (
                f"offset {offset} has another leader epoch than in the warehouse; an unclean election may have "
                "truncated the log: copies of its segments show what was lost (--source segments:DIR); otherwise"
            )
            raise Failure(ExitCode.UNREADABLE_INPUT, f"{log.topic}-{number}: {line} {OTHER_CLUSTER}")


def gaps(log: LiveLog, plan: LivePlan, answers: Sequence[IngestResult]) -> list[IngestResult]:
    """Counts offsets that were removed before they could be read, and reports them."""
    facts = {each.source_file: each for answer in answers for each in answer.facts}
    begins = dict(plan.begins)
    for unit in plan.units:
        if (start := facts[name_of(unit)].log_start) is not None:
            begins[unit.partition] = max(start, begins.get(unit.partition, 0))
    for number, start in begins.items():
        say(f"{log.topic}-{number} now begins at offset {start}: records before it that were not read yet are lost")
    return [IngestResult(counts=[Counts(number, gaps=1) for number in begins])] if begins else []
