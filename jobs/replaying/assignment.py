"""What the tasks of a replay are told, and what they answer: plain data, since they run in other processes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from jobs.replaying.log_files import LogFile
from jobs.warehouses.delta_tables import DataFile
from udfs.offset_ranges import Range
from udfs.replay.coverage import Coverage, Stretch
from udfs.replay.leader_epochs import Epoch, LeaderEpochs
from udfs.replay.topic_names import Sighting


@dataclass(frozen=True)
class Rules:
    """What a replay rests on beside the log: when it changes, what rests on it is replayed again."""

    retention_ms: int | None = None
    num_offsets_partitions: int | None = None
    # Topic, and the snapshots between which it went.
    topic_deletions: tuple[tuple[str, int, int], ...] = ()

    def of_topics(self, topics: set[str]) -> "Rules":
        deletions = tuple(each for each in self.topic_deletions if each[0] in topics)
        return Rules(self.retention_ms, self.num_offsets_partitions, deletions)

    def text(self) -> str:
        return json.dumps(asdict(self))


@dataclass
class Progress:
    """How far an offsets partition is replayed: a row of replayed_partitions."""

    partition: int
    through_run_id: str
    rules: str
    coverage: Coverage
    epochs: LeaderEpochs
    sightings: list[Sighting]
    unnamed_topic_ids: list[str]

    @property
    def through_offset(self) -> int | None:
        return self.coverage.last_offset

    def row(self, cluster: str) -> dict[str, Any]:
        gaps = self.coverage.gaps()
        return {
            "cluster": cluster,
            "offsets_partition": self.partition,
            "through_run_id": self.through_run_id,
            "through_offset": self.coverage.last_offset,
            "through_time": self.coverage.last_time,
            "rules": self.rules,
            "stretches": [asdict(each) for each in self.coverage.stretches],
            "gap_firsts": np.asarray(gaps.firsts).tolist(),
            "gap_lasts": np.asarray(gaps.lasts).tolist(),
            "leader_epochs": [
                {"partition_leader_epoch": number, **asdict(each)} for number, each in sorted(self.epochs.of.items())
            ],
            "topics": [
                asdict(each) for each in sorted(self.sightings, key=lambda each: (*each.key[:1], each.key[1] or ""))
            ],
            "unnamed_topic_ids": sorted(self.unnamed_topic_ids),
        }


def progress_of(row: Mapping[str, Any]) -> Progress:
    """`row` has times as microseconds."""
    gaps = [np.array(row[name], np.int64) for name in ("gap_firsts", "gap_lasts")]
    coverage = Coverage(
        [Stretch(**each) for each in row["stretches"]], [gaps[0]], [gaps[1]], row["through_offset"], row["through_time"]
    )
    epochs = {
        each["partition_leader_epoch"]: Epoch(**{name: each[name] for name in Epoch.__dataclass_fields__})
        for each in row["leader_epochs"]
    }
    return Progress(
        row["offsets_partition"], row["through_run_id"], row["rules"], coverage, LeaderEpochs(epochs),
        [Sighting(**each) for each in row["topics"]], list(row["unnamed_topic_ids"]),
    )  # fmt: skip


@dataclass(frozen=True)
class Assignment:
    """What all tasks of a run are told."""

    cluster: str
    run_id: str
    # The newest run that was there.
    through_run_id: str
    covered: Mapping[int, Sequence[Range]]
    # Of topics, by id.
    names: Mapping[str, str]
    rules: Rules
    earlier: Mapping[int, Progress]
    # Where files are written.
    root: Path = Path()
    # Of decoded tables, and those of the replay's own that hold what may still change.
    files: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)
    held: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)


@dataclass(frozen=True)
class Share:
    """An offsets partition, or of a large one the groups that fall to one of `num_slices`."""

    partition: int
    number: int = 0
    num_slices: int = 1


@dataclass
class Answer:
    # By table; several where rows are open and closed.
    files: list[tuple[str, DataFile]] = field(default_factory=list)
    num_rows: dict[str, int] = field(default_factory=dict)
    progress: list[Progress] = field(default_factory=list)
    # Of slices of an offsets partition, as Arrow: a transaction may commit for groups of several.
    transactions: list[tuple[int, bytes]] = field(default_factory=list)
    # Replayed from their beginning: what earlier runs made of them goes.
    whole: list[int] = field(default_factory=list)
    # Replayed in slices and not from their beginning, as they have to be.
    insufficient: list[int] = field(default_factory=list)
    num_records: int = 0
    num_groups: int = 0
    failure: tuple[int, str] | None = None
