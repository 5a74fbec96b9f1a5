"""The input of recomputation tasks and the state they return: plain data, since tasks run in other processes."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.replaying.task.messages import PartitionProgress, RunInput
from udfs.audit.checks.facts import Facts, KnownTopic

# Of the form in which groups are stored, and of what verdicts mean: another one lets the next run begin anew.
STATE = 4


@dataclass
class Progress(PartitionProgress):
    """A row of recomputed_partitions. `num_of_verdicts`: in a task's result, counts only its own rows."""

    through_offset: int | None = None
    # Microseconds.
    through_time: int | None = None
    basis: str = ""
    # By leader epoch, the offset from which on records of lower epochs do not count.
    begins: dict[int, int] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    unnamed_topic_ids: set[str] = field(default_factory=set)
    num_of_verdicts: Counter[str] = field(default_factory=Counter)
    # Microseconds.
    unconfirmed_through_time: int | None = None

    def add(self, other: "Progress") -> None:
        """Adds another slice of the same offsets partition."""
        self.through_offset = latest(self.through_offset, other.through_offset)
        self.through_time = latest(self.through_time, other.through_time)
        self.topics |= other.topics
        self.unnamed_topic_ids |= other.unnamed_topic_ids
        self.num_of_verdicts += other.num_of_verdicts
        self.unconfirmed_through_time = latest(self.unconfirmed_through_time, other.unconfirmed_through_time)

    @staticmethod
    def from_plain(row: Mapping[str, Any]) -> "Progress":
        return progress_of(row)

    def row(self, cluster: str) -> dict[str, Any]:
        return {
            "cluster": cluster,
            "offsets_partition": self.partition,
            "through_run_id": self.through_run_id,
            "through_offset": self.through_offset,
            "through_time": self.through_time,
            "leader_epochs": [
                {"partition_leader_epoch": epoch, "first_offset": first} for epoch, first in sorted(self.begins.items())
            ],
            "topics": sorted(self.topics),
            "unnamed_topic_ids": sorted(self.unnamed_topic_ids),
            "unconfirmed_through_time": self.unconfirmed_through_time,
            "basis": self.basis,
            "verdicts": sorted(self.num_of_verdicts.items()),
        }


def progress_of(row: Mapping[str, Any]) -> Progress:
    """`row` has times as microseconds."""
    return Progress(
        partition=row["offsets_partition"],
        through_run_id=row["through_run_id"],
        through_offset=row["through_offset"],
        through_time=row["through_time"],
        basis=row["basis"],
        begins={each["partition_leader_epoch"]: each["first_offset"] for each in row["leader_epochs"]},
        topics=set(row["topics"]),
        unnamed_topic_ids=set(row["unnamed_topic_ids"]),
        num_of_verdicts=Counter(dict(row["verdicts"])),
        unconfirmed_through_time=row["unconfirmed_through_time"],
    )


@dataclass(frozen=True, kw_only=True)
class RecomputingInput(RunInput[Progress]):
    facts: Facts
    # By offsets partition and leader epoch, where each leader began, from everything known of the log.
    begins: Mapping[int, Mapping[int, int]]
    # By offsets partition, groups whose coordinator reads another one.
    left_out: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def of_partitions(self, partitions: set[int]) -> Mapping[str, Any]:
        begins = {place: each for place, each in self.begins.items() if place in partitions}
        left_out = {place: each for place, each in self.left_out.items() if place in partitions}
        return {**super().of_partitions(partitions), "begins": begins, "left_out": left_out}


def latest(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def basis_of(facts: Facts, progress: Progress, left_out: Collection[str]) -> str:
    """What the rows of its groups depend on. The last time at which a topic was seen counts only if it may confirm
    something unconfirmed: otherwise each new snapshot would change the basis."""
    through = progress.unconfirmed_through_time
    about = {
        # States of groups that older releases stored lack what runs of this one go on with.
        "state": STATE,
        "default_assignor": facts.default_assignor,
        **({"custom_listed": sorted(facts.custom_listed)} if facts.custom_listed else {}),
        **({"custom_default": sorted(facts.custom_default)} if facts.custom_default else {}),
        "migration_policy": facts.migration_policy,
        "rules": [asdict(rule) for rule in facts.rules],
        "topics": {
            name: [basis_of_topic(each, through) for each in facts.topics.get(name, ())]
            for name in sorted(progress.topics)
        },
        "named_times": {name: facts.named_times[name] for name in sorted(progress.topics & facts.named_times.keys())},
        "whole_times": [] if through is None else sorted({min(time, through) for time in facts.whole_times}),
        "names": {topic_id: facts.names.get(topic_id) for topic_id in sorted(progress.unnamed_topic_ids)},
        "deleted": sorted(progress.topics & facts.deleted_topics),
        "ids": sorted(each for each, name in facts.logged_names.items() if name in progress.topics),
        **({"left_out": sorted(left_out)} if left_out else {}),
    }
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]


def basis_of_topic(known: KnownTopic, through: int | None) -> list[Any]:
    """Records after the unconfirmed one confirm nothing about it."""
    last = None if through is None else min(known.last_time, through)
    whole = known.whole_time if through is not None and (known.whole_time or 0) <= through else None
    return [asdict(known.topic), known.first_time, last, known.exceeded, known.proved, whole, known.beyond]
