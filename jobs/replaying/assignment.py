"""What the tasks of a replay are told, and how far they came."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from jobs.replaying.told import Reached, Told
from udfs.offset_ranges import Range
from udfs.replay.coverage import Coverage, Stretch
from udfs.replay.leader_epochs import Epoch, LeaderEpochs
from udfs.replay.topic_names import Sighting

# Groups with records in several offsets partitions, each with these.
SplitGroups = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Rules:
    """What a replay rests on beside the log: when it changes, what rests on it is replayed again."""

    retention_ms: int | None = None
    num_offsets_partitions: int | None = None
    # Topic, and the snapshots between which it went.
    topic_deletions: tuple[tuple[str, int, int], ...] = ()
    # Asked for only where nobody tells the number of offsets partitions.
    split_groups: SplitGroups = ()

    def of_partition(self, partition: int, topics: set[str]) -> "Rules":
        """What one offsets partition rests on; `topics` are those that its records name."""
        deletions = tuple(each for each in self.topic_deletions if each[0] in topics)
        split = tuple(each for each in self.split_groups if partition in each[1])
        return replace(self, topic_deletions=deletions, split_groups=split)

    def text(self) -> str:
        return json.dumps(asdict(self))


@dataclass
class Progress(Reached):
    """A row of replayed_partitions."""

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


@dataclass(frozen=True, kw_only=True)
class Assignment(Told[Progress]):
    covered: Mapping[int, Sequence[Range]]
    # Of topics, by id.
    names: Mapping[str, str]
    rules: Rules

    def of_partitions(self, partitions: set[int]) -> Mapping[str, Any]:
        covered = {place: each for place, each in self.covered.items() if place in partitions}
        return {**super().of_partitions(partitions), "covered": covered}
