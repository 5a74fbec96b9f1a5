"""The input of replay tasks, and the state they return."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jobs.replaying.task.messages import PartitionProgress, RunInput
from udfs.groups.history.reading_ends import Setting
from udfs.log.coverage import Coverage, KnownSpan
from udfs.log.damage import Damage
from udfs.log.leader_epochs import Epoch, LeaderEpochs
from udfs.log.offset_ranges import Range
from udfs.log.release_lines import LINES, EarlyTime, LineSpan, Sign, line_spans
from udfs.topics.end_offsets import Awaited, EndOffsets
from udfs.topics.growths import Growths
from udfs.topics.least_partitions import NamedPartitions
from udfs.topics.names import Sighting

# Groups with records in several offsets partitions, with these partitions.
SplitGroups = tuple[tuple[str, tuple[int, ...]], ...]


class OwnTimeouts(NamedTuple):
    """Timeouts that a group sets for itself. `partition`: its offsets partition; None: the number of offsets partitions
    is unknown."""

    partition: int | None
    group_id: str
    group_type: str
    session_ms: int | None
    heartbeat_ms: int | None


@dataclass(frozen=True)
class Rules:
    """What a replay depends on apart from the log. When one of these changes, the rows that depend on it are replayed
    again."""

    retention_ms: int | None = None
    num_offsets_partitions: int | None = None
    # Topic, and the snapshots between which it was deleted.
    topic_deletions: tuple[tuple[str, int, int], ...] = ()
    # Used only if the number of offsets partitions is unknown.
    split_groups: SplitGroups = ()
    # For one offsets partition, within its covered ranges.
    damage: tuple[Damage, ...] = ()
    # Topic names by id that only follow from what groups were assigned.
    inferred_names: tuple[tuple[str, str], ...] = ()
    # Group type, session timeout and heartbeat interval.
    timeouts: tuple[tuple[str, int | None, int | None], ...] = ()
    own_timeouts: tuple[OwnTimeouts, ...] = ()

    def of_partition(self, partition: int, topics: set[str], unsure_ids: Collection[str]) -> "Rules":
        """What one offsets partition depends on: its records name these topics, and these ids without a certain
        name."""
        deletions = tuple(each for each in self.topic_deletions if each[0] in topics)
        split = tuple(each for each in self.split_groups if partition in each[1])
        names = tuple(each for each in self.inferred_names if each[0] in unsure_ids)
        own = self.own_timeouts_in(partition)
        return replace(self, topic_deletions=deletions, split_groups=split, inferred_names=names, own_timeouts=own)

    def own_timeouts_in(self, partition: int) -> tuple[OwnTimeouts, ...]:
        return tuple(each for each in self.own_timeouts if each.partition in (None, partition))

    def timeouts_by_type(self) -> dict[str, Setting]:
        return {group_type: Setting(session, heartbeat) for group_type, session, heartbeat in self.timeouts}

    def timeouts_by_group(self, partition: int) -> dict[tuple[str, str], Setting]:
        """Timeouts of groups of the offsets partition that set their own, by group and type."""
        by_type = self.timeouts_by_type()
        return {
            (each.group_id, each.group_type): by_type.get(each.group_type, Setting()).with_own(
                each.session_ms, each.heartbeat_ms
            )
            for each in self.own_timeouts_in(partition)
        }

    def text(self) -> str:
        return json.dumps(asdict(self))


@dataclass
class Progress(PartitionProgress):
    """A row of replayed_partitions."""

    rules: str
    coverage: Coverage
    epochs: LeaderEpochs
    sightings: list[Sighting]
    unnamed_topic_ids: list[str]
    # Time of the newest snapshot that was known.
    snapshots_through: int | None = None
    awaited: list[Awaited] = field(default_factory=list)
    named: list[NamedPartitions] = field(default_factory=list)
    # The same without what leaders of classic groups assigned. None: an older release did not note them apart.
    proved: list[NamedPartitions] | None = field(default_factory=list)
    whole_run_id: str = ""
    # None: an older release did not look for them.
    signs: tuple[Sign, ...] | None = None
    line_spans: tuple[LineSpan, ...] = ()

    @property
    def through_offset(self) -> int | None:
        return self.coverage.last_offset

    @staticmethod
    def from_plain(row: Mapping[str, Any]) -> "Progress":
        return progress_of(row)

    def row(self, cluster: str) -> dict[str, Any]:
        gaps = self.coverage.gaps()
        return {
            "cluster": cluster,
            "offsets_partition": self.partition,
            "through_run_id": self.through_run_id,
            "whole_run_id": self.whole_run_id,
            "through_offset": self.coverage.last_offset,
            "through_time": self.coverage.last_time,
            "newest_times": self.coverage.newest_times.tolist(),
            "rules": self.rules,
            "stretches": [asdict(each) for each in self.coverage.stretches],
            "gap_firsts": np.asarray(gaps.firsts).tolist(),
            "gap_lasts": np.asarray(gaps.lasts).tolist(),
            "leader_epochs": [
                {"partition_leader_epoch": number, **asdict(each)} for number, each in sorted(self.epochs.of.items())
            ],
            "topics": [
                {**vars(each)} for each in sorted(self.sightings, key=lambda each: (*each.key[:1], each.key[1] or ""))
            ],
            "named_partitions": [each._asdict() for each in self.named],
            "proved_partitions": None if self.proved is None else [each._asdict() for each in self.proved],
            "unnamed_topic_ids": sorted(self.unnamed_topic_ids),
            "snapshots_through_time": self.snapshots_through,
            "awaited_ends": [asdict(each) for each in sorted(self.awaited)],
            "release_signs": None if self.signs is None else [each._asdict() for each in self.signs],
            "line_spans": [each._asdict() for each in self.line_spans],
        }


def progress_of(row: Mapping[str, Any]) -> Progress:
    """`row` has times as microseconds."""
    gaps = [np.array(row[name], np.int64) for name in ("gap_firsts", "gap_lasts")]
    coverage = Coverage(
        [KnownSpan(**each) for each in row["stretches"]],
        [gaps[0]],
        [gaps[1]],
        row["through_offset"],
        row["through_time"],
        np.array(row["newest_times"] or (), np.int64),
    )
    epochs = {
        each["partition_leader_epoch"]: Epoch(**{name: each[name] for name in Epoch.__dataclass_fields__})
        for each in row["leader_epochs"]
    }
    return Progress(
        partition=row["offsets_partition"],
        through_run_id=row["through_run_id"],
        rules=row["rules"],
        coverage=coverage,
        epochs=LeaderEpochs(epochs),
        sightings=[Sighting(**each) for each in row["topics"]],
        unnamed_topic_ids=list(row["unnamed_topic_ids"]),
        snapshots_through=row["snapshots_through_time"],
        awaited=[Awaited(**each) for each in row["awaited_ends"]],
        named=[NamedPartitions(**each) for each in row["named_partitions"]],
        proved=None
        if row["proved_partitions"] is None
        else [NamedPartitions(**each) for each in row["proved_partitions"]],
        whole_run_id=row["whole_run_id"],
        signs=None if row["release_signs"] is None else tuple(Sign(**each) for each in row["release_signs"]),
        line_spans=tuple(LineSpan(**each) for each in row["line_spans"] or ()),
    )


@dataclass(frozen=True, kw_only=True)
class ReplayInput(RunInput[Progress]):
    by_partition: ClassVar[tuple[str, ...]] = ("earlier", "covered", "damage", "signs")
    covered: Mapping[int, Sequence[Range]]
    # Topic names by id.
    names: Mapping[str, str]
    rules: Rules
    damage: Mapping[int, Sequence[Damage]] = field(default_factory=dict)
    end_offsets: EndOffsets = field(default_factory=EndOffsets.none)
    growths: Growths = field(default_factory=Growths)
    # By offsets partition, what records show of the brokers' releases.
    signs: Mapping[int, tuple[Sign, ...]] = field(default_factory=dict)
    early: EarlyTime | None = None
    # Of the setting.
    line: str | None = None

    def line_spans(self, partition: int, epochs: LeaderEpochs) -> tuple[LineSpan, ...]:
        setting = None if self.line is None else LINES[self.line]
        return line_spans(epochs.of, self.signs.get(partition, ()), self.early, setting)

    @cached_property
    def sure_names(self) -> Collection[str]:
        """Ids whose names are in records or snapshots."""
        return self.names.keys() - dict(self.rules.inferred_names).keys()
