"""The input of measurement tasks and the state they return: plain data, since tasks run in other processes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.task.messages import PartitionProgress, RunInput
from schemas.words.records import EarlyEnd
from udfs.lag.partition_history import BrokerSettings
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.freshness import Objective
from udfs.rules.verdicts.own_verdict import OwnRules


@dataclass
class Progress(PartitionProgress):
    """A row of measured_partitions; times are microseconds."""

    through_offset: int | None = None
    settled_time: int | None = None
    basis: str = ""


@dataclass(frozen=True)
class Replayed:
    """Progress of the replay in an offsets partition. `begins`: by leader epoch, where it began."""

    through_offset: int | None
    through_time: int | None
    whole_run_id: str
    begins: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class MeasuringInput(RunInput[Progress]):
    by_partition: ClassVar[tuple[str, ...]] = ("earlier", "replayed", "left_out", "early_ends")
    replayed: Mapping[int, Replayed]
    # Microseconds. `newest_snapshot` None: there is none. `measured_to`: until when rows are made; later than the as-of
    # time if an earlier run was about a later time.
    as_of_time: int
    measured_to: int
    newest_snapshot: int | None
    snapshots: Sequence[LogFile] = ()
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    burrow: BurrowRules = field(default_factory=BurrowRules)
    verdicts: OwnRules = field(default_factory=OwnRules)
    objectives: Sequence[Objective] = ()
    # By offsets partition, groups whose coordinator reads another one.
    left_out: Mapping[int, frozenset[str]] = field(default_factory=dict)
    # Offsets partitions that probably go on after what was read of them.
    early_ends: Mapping[int, EarlyEnd] = field(default_factory=dict)

    def basis(self, partition: int) -> str:
        """What settled rows depend on outside the log, which tables have them, and by which rules: rows by older rules
        are made again. The first snapshot may contain facts about earlier times that no snapshot had before."""
        basis = f"{'without' if self.newest_snapshot is None else 'with'} snapshots, by day, topics by id"
        basis += f", rates with trends, actors with reasons, retention: {self.broker.retention_source}"
        left_out = self.left_out.get(partition)
        return f"{basis}, without {json.dumps(sorted(left_out))}" if left_out else basis

    def settled_time(self, partition: int) -> int | None:
        """Everything before this time is known and measured, and the first snapshot after it is known too. What was
        settled stays settled, even if a run is about an earlier time."""
        through, earlier = self.replayed[partition].through_time, self.earlier.get(partition)
        before = None if earlier is None else earlier.settled_time
        if through is None:
            return before
        now = min(each for each in (through, self.newest_snapshot, self.as_of_time) if each is not None)
        return now if before is None else max(before, now)
