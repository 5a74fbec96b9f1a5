"""Plans which offsets of a live offsets topic to read: those that the warehouse lacks, up to the end when the run
began.

It checks that this is still the log in the warehouse: by the topic's id, by its end, and, if a partition has a new
leader, by reading the last known record again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from jobs.broker.fetch import fetch
from jobs.broker.offsets import partition_offsets
from jobs.broker.patience import Patience
from jobs.ingestion.driver.state import State
from jobs.ingestion.live.span import BYTES_PER_OFFSET, LiveLog, LiveSpan
from jobs.ingestion.task.live_cuts import Cut, Sample, cuts, lacking, without
from jobs.ingestion.task.plan import CopySpan, PartitionSpan
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from udfs.log.offset_ranges import Range

if TYPE_CHECKING:
    from jobs.broker.cluster import KafkaCluster, Offsets, Partition, Topic

SAMPLE_BYTES = 64 << 10
# A new leader may report an older end for a while.
SETTLING_SECONDS = 5.0
SEPARATOR = ":"
OTHER_CLUSTER = "give this Kafka cluster another name: --cluster NAME"


@dataclass(frozen=True)
class LivePlan:
    """`ids`: by offsets partition, the topic's id and the leader epoch at the start of the run. `begins`: partitions
    whose log begins after what is known. `proofs`: known offsets that are read again."""

    units: list[PartitionSpan]
    ids: dict[int, str]
    begins: dict[int, int]
    proofs: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Planner:
    log: LiveLog
    state: State
    cluster: "KafkaCluster"
    is_retry: bool

    def plan(self, topic: "Topic") -> LivePlan:
        offsets = self.settled_offsets([each.partition for each in topic.partitions])
        ids = {each.partition: log_id(topic, each) for each in topic.partitions}
        known = {number: self.known_ranges(number) for number in offsets}
        planned = {number: self.units_of(number, each, known[number]) for number, each in offsets.items()}
        begins = {
            number: each.start
            for number, each in offsets.items()
            if continues_after_gap(known[number], each.start, [unit.first for unit in planned[number]])
        }
        proofs = {
            number: last
            for number, each in offsets.items()
            if (last := self.last_known(number)) >= each.start and self.may_have_changed(number, ids[number])
        }
        units = [self.partition_span(number, Cut(last, last + 1, BYTES_PER_OFFSET)) for number, last in proofs.items()]
        units += [unit for of_partition in planned.values() for unit in of_partition]
        in_order = sorted(units, key=lambda unit: (unit.partition, unit.first))
        return LivePlan(in_order, ids, begins, frozenset(proofs.items()))

    def settled_offsets(self, partitions: Sequence[int]) -> "dict[int, Offsets]":
        patience = Patience(SETTLING_SECONDS)
        while True:
            by_key = partition_offsets(self.cluster, [(self.log.topic, number) for number in partitions])
            offsets = {number: each for (_, number), each in by_key.items()}
            short = [number for number, each in offsets.items() if each.end < self.known_end(number)]
            if not short:
                return offsets
            end, known = offsets[short[0]].end, self.known_end(short[0])
            line = f"{self.log.topic}-{short[0]} ends at offset {end}, the warehouse knows it up to {known}"
            patience.wait(f"{line}: recreated, or cut off by an unclean leader election? {OTHER_CLUSTER}")

    def known_end(self, partition: int) -> int:
        ranges = [*self.state.ranges.get(partition, ()), *self.state.requested.get(partition, ())]
        return max((last + 1 for _, last in ranges), default=0)

    def may_have_changed(self, partition: int, id: str) -> bool:
        return self.state.log_ids.get(partition) != id or id.endswith(SEPARATOR)

    def last_known(self, partition: int) -> int:
        return max((last for _, last in self.state.ranges.get(partition, ())), default=-1)

    def known_ranges(self, partition: int) -> list[Range]:
        """Offsets that need not be read: requested before, or in files, without damaged ones."""
        damaged = [
            (
                each.from_record_offset,
                each.from_record_offset if each.to_record_offset is None else each.to_record_offset,
            )
            for each in self.state.rejected.get(partition, ())
            if each.from_record_offset is not None
        ]
        files = without(self.state.of_files.get(partition, ()), damaged)
        requested = self.state.requested.get(partition, ())
        return sorted([*files, *(without(requested, damaged) if self.is_retry else requested)])

    def units_of(self, partition: int, offsets: "Offsets", known: Sequence[Range]) -> list[PartitionSpan]:
        look = partial(self.look, partition, offsets.end)
        return [
            self.partition_span(partition, cut)
            for first, last in lacking(known, offsets.start, offsets.end)
            for cut in cuts(first, last + 1, BYTES_PER_OFFSET, look)
        ]

    def look(self, partition: int, end: int, offset: int) -> Sample:
        batches = next(fetch(self.cluster, self.log.topic, partition, offset, end, SAMPLE_BYTES))
        first = int.from_bytes(batches.content[:8], "big") if batches.content else batches.next_offset
        return Sample(first, batches.next_offset, len(batches.content))

    def partition_span(self, partition: int, cut: Cut) -> PartitionSpan:
        name, last = self.log.name(partition, cut.start), cut.end - 1
        span = LiveSpan(
            name=name, topic=self.log.topic, partition=partition, start=cut.start, end=cut.end, size=cut.size
        )
        known = self.state.ranges.get(partition, ())
        may_be_known = any(low <= last and cut.start <= high for low, high in known)
        return PartitionSpan(
            partition, ((CopySpan(span, cut.start, last, is_newest=False),),), cut.start, last, may_be_known
        )


def continues_after_gap(known: Sequence[Range], log_start: int, read: Sequence[int]) -> bool:
    """Whether missing offsets are reported now: by the run that continues at the log's start."""
    before = [last for first, last in known if first < log_start]
    return bool(before) and max(before) + 1 < log_start and log_start in read


def offsets_topic(log: LiveLog, cluster: "KafkaCluster") -> "Topic":
    topic = cluster.topics([log.topic])[log.topic]
    if topic is None:
        line = f"no topic {log.topic}, which brokers make when the first group commits or joins"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"kafka:{log.servers}: {line}")
    return topic


def check_same_id(log: LiveLog, topic: "Topic", ids: Iterable[str]) -> None:
    known = {known_id for each in ids if (known_id := each.rpartition(SEPARATOR)[0])}
    if topic.topic_id is not None and known - {topic.topic_id}:
        line = f"{log.topic} was recreated: its id is {topic.topic_id}, it was {min(known - {topic.topic_id})}"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"kafka:{log.servers}: {line}, {OTHER_CLUSTER}")


def log_id(topic: "Topic", partition: "Partition") -> str:
    """What identifies a partition's log: with another leader epoch its end may differ."""
    epoch = "" if partition.leader_epoch is None else partition.leader_epoch
    return f"{topic.topic_id or ''}{SEPARATOR}{epoch}"
