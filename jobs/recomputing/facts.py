"""What recomputation needs beside the records of groups: topics and settings from snapshots and replays, rules from the
settings file; and how far earlier runs went, with the facts that their rows depend on."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.answers.deleted_topics import COLUMNS as TOPIC_ENDS
from jobs.answers.deleted_topics import deleted_topics
from jobs.answers.snapshots import ASSIGNOR_NAMES, ASSIGNORS
from jobs.configuration.settings import Settings
from jobs.replaying.task.messages import PartitionProgress, RunInput
from jobs.replaying.task.warehouse_state import PROGRESS, with_micros
from jobs.warehouses.warehouse import Warehouse
from schemas.words.records import OFFSETS_TOPIC, GroupType
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, GroupRule, KnownTopic
from udfs.topics.least_partitions import NamedPartitions, merged
from udfs.topics.partition_counts import NamedCounts, named_counts

MIGRATION = "group.consumer.migration.policy"
# By setting that lists assignors, the groups whose coordinator runs them.
ASSIGNOR_SETTINGS = {ASSIGNORS: GroupType.CONSUMER, "group.share.assignors": GroupType.SHARE}
# As an entry of such a setting may name them.
KAFKAS_ASSIGNORS = frozenset(
    {*ASSIGNOR_NAMES, *ASSIGNOR_NAMES.values(), "simple", "org.apache.kafka.coordinator.group.assignor.SimpleAssignor"}
)
NOTHING_NAMED = NamedCounts()
# Columns of `topic_snapshots`, `topics` and the replay's progress.
IN_SNAPSHOTS = ["cluster", "captured_time", "topic", "topic_id", "partition", "racks"]
OF_TOPICS = ["topic_id", *TOPIC_ENDS]
NAMED_PARTITIONS = ["named_partitions", "proved_partitions"]
# Of the form in which groups are stored, and of what verdicts mean: another one lets the next run begin anew.
STATE = 4


def facts_of(warehouse: Warehouse, cluster: str, settings: Settings) -> Facts:
    all_settings = settings_of_snapshots(warehouse, cluster)
    current_settings = {name: value for each in all_settings for name, value in each.items()}
    first, *_ = entries(current_settings.get(ASSIGNORS, settings.broker.default_assignor))
    policy = current_settings.get(MIGRATION)
    topics = warehouse.rows("topics", OF_TOPICS, cluster)
    return replace(
        facts_of_topics(
            cluster,
            warehouse.rows("topic_snapshots", IN_SNAPSHOTS),
            [] if topics is None else topics.to_pylist(),
            warehouse.rows(PROGRESS, NAMED_PARTITIONS, cluster),
        ),
        default_assignor=None if is_custom(ASSIGNORS, current_settings) else ASSIGNOR_NAMES.get(first, first) or None,
        custom_listed=frozenset(
            group_type
            for name, group_type in ASSIGNOR_SETTINGS.items()
            if any(is_custom(name, each, most=None) for each in all_settings)
        ),
        custom_default=frozenset(
            group_type for name, group_type in ASSIGNOR_SETTINGS.items() if is_custom(name, current_settings)
        ),
        migration_policy=None if policy is None else policy.lower(),
        rules=tuple(
            GroupRule(each.pattern, each.copartitioned, each.redundancy, each.is_rack_local) for each in settings.groups
        ),
    )


def settings_of_snapshots(warehouse: Warehouse, cluster: str) -> list[dict[str, str]]:
    """The settings that each snapshot has, oldest first."""
    rows = warehouse.rows("cluster_snapshots", ["cluster", "captured_time", "settings"])
    if rows is None:
        return []
    ours = rows.filter(pc.equal(rows.column("cluster"), cluster)).sort_by("captured_time")
    return [
        {name: value for name, value in settings or () if value} for settings in ours.column("settings").to_pylist()
    ]


def is_custom(name: str, settings: Mapping[str, str], most: int | None = 1) -> bool:
    """Whether one of the first entries of the setting is a class that is not Kafka's, by whatever name."""
    return any(each not in KAFKAS_ASSIGNORS for each in entries(settings.get(name, ""))[:most] if each)


def entries(value: str) -> list[str]:
    return [each.strip() for each in value.split(",")]


def facts_of_topics(
    cluster: str, snapshots: pa.Table | None, topics: Sequence[Mapping[str, Any]], progress: pa.Table | None
) -> Facts:
    """`topics`, `progress`: of the newest replay: the names of topics by id, and since when records show how many
    partitions a topic has, in all offsets partitions."""
    logged: dict[str, str] = {}
    for name, topic_id in sorted((row["topic"], row["topic_id"]) for row in topics if row["topic_id"] is not None):
        logged.setdefault(topic_id, name)
    named, proved = ([], []) if progress is None else partitions_of(progress)
    counts = named_counts(named, logged)
    known = known_topics(snapshots, cluster, logged, counts, named_counts(proved, logged))
    whole = whole_times(snapshots, cluster)
    # Of topics in no snapshot.
    named_times = {name: min(each.time for each in of) for name, of in counts.by_name.items() if name not in known}
    return Facts(
        topics=known,
        whole_times=whole,
        named_times=named_times if whole else {},
        logged_names=logged,
        deleted_topics=deleted_topics(topics),
    )


def partitions_of(rows: pa.Table) -> tuple[list[NamedPartitions], list[NamedPartitions]]:
    """By all records, and without what leaders of classic groups assigned. Where an older release did not note them
    apart, all of them count."""
    every, proved = (with_micros(rows.column(name).to_pylist()) for name in NAMED_PARTITIONS)
    some = [named if own is None else own for named, own in zip(every, proved, strict=True)]
    listed: list[Any] = [every, some]
    first, second = ([[NamedPartitions(**each) for each in row] for row in of] for of in listed)
    return merged(*first), merged(*second)


def whole_times(rows: pa.Table | None, cluster: str) -> tuple[int, ...]:
    """Times of snapshots that list all topics. A snapshot without the offsets topic lists only some."""
    if rows is None:
        return ()
    is_ours = pc.and_(pc.equal(rows.column("cluster"), cluster), pc.equal(rows.column("topic"), OFFSETS_TOPIC))
    times = rows.filter(is_ours).column("captured_time").cast(pa.int64())
    return tuple(sorted(pc.unique(times).to_pylist()))


def known_topics(
    rows: pa.Table | None,
    cluster: str,
    logged: Mapping[str, str] = MappingProxyType({}),
    counts: NamedCounts = NOTHING_NAMED,
    proved: NamedCounts | None = None,
) -> Mapping[str, Sequence[KnownTopic]]:
    """Each distinct combination of number, id or racks of a topic once, from the first to the last of consecutive
    snapshots that have it. `logged`: topic names by id in the log. `counts`: numbers of partitions in records, which
    may contradict snapshots. `proved`: without what leaders of classic groups assigned; None: the same."""
    ours = None if rows is None else rows.filter(pc.equal(rows.column("cluster"), cluster))
    if ours is None or not ours.num_rows:
        return {}
    by_name: dict[str, list[KnownTopic]] = {}
    ids: dict[str, list[str]] = {}
    for logged_id, name in sorted(logged.items()):
        ids.setdefault(name, []).append(logged_id)
    for name, time, topic in topics_by_snapshot(ours):
        known = by_name.setdefault(name, [])
        add(known, judge_topic(KnownTopic(topic, time, time), known, ids.get(name, ()), counts, proved or counts))
    return {name: with_topic_ids(known, ids.get(name, ())) for name, known in by_name.items()}


def topics_by_snapshot(rows: pa.Table) -> Iterator[tuple[str, int, Topic]]:
    """By name and time. Millions of rows are few topics, which rarely change: they are compared as Arrow arrays."""
    rows = rows.sort_by([(name, "ascending") for name in ("topic", "captured_time", "partition")])
    names = rows.column("topic").dictionary_encode().unify_dictionaries().combine_chunks()
    codes = np.asarray(names.indices.to_numpy(zero_copy_only=False))
    times, partitions = rows.column("captured_time").cast(pa.int64()).to_numpy(), rows.column("partition").to_numpy()
    racks = rows.column("racks").combine_chunks()
    starts = np.flatnonzero(np.append(True, (np.diff(codes) != 0) | (np.diff(times) != 0)))
    ids = rows.column("topic_id").take(pa.array(starts)).to_pylist()
    topic, before = None, None
    for start, end, topic_id in zip(starts.tolist(), [*starts[1:].tolist(), len(codes)], ids, strict=True):
        name, numbers, own = names.dictionary[codes[start]].as_py(), partitions[start:end], racks[start:end]
        now = name, topic_id, numbers.tobytes()
        if topic is None or before is None or before[0] != now or not before[1].equals(own):
            topic = Topic(name, int(numbers[-1]) + 1, topic_id, racks_of(numbers.tolist(), own.to_pylist()))
        before = now, own
        yield name, int(times[start]), topic


def racks_of(
    numbers: Sequence[int], racks: Sequence[list[str | None] | None]
) -> tuple[tuple[str | None, ...], ...] | None:
    """By partition, also of those that the snapshot does not list. None if no broker has a known rack."""
    by_number = dict(zip(numbers, racks, strict=True))
    of_partitions = tuple(tuple(by_number.get(number) or ()) for number in range(numbers[-1] + 1))
    return of_partitions if any(rack is not None for own in of_partitions for rack in own) else None


def judge_topic(
    new: KnownTopic, earlier: Sequence[KnownTopic], logged: Sequence[str], counts: NamedCounts, others: NamedCounts
) -> KnownTopic:
    """Whether records contradict the snapshot. A name without an id may be any topic that had the name."""
    topic, name = new.topic, new.topic.name
    if name not in counts.by_name:
        return new
    own = topic.topic_id or (logged[0] if len(logged) == 1 else None)
    since = max((each.last_time for each in earlier if own and each.topic.topic_id not in (None, own)), default=None)
    most, ever = counts.most(name, own, new.first_time, since), counts.most_ever(name, own, since)
    proved = others.most(name, own, new.first_time, since)
    return replace(
        new,
        exceeded=most if most > topic.partitions else 0,
        proved=proved if proved > topic.partitions else 0,
        whole_time=counts.first_time(name, own, topic.partitions, since),
        beyond=ever if ever > topic.partitions else 0,
    )


def add(known: list[KnownTopic], new: KnownTopic) -> None:
    """The output of Kafka's tools has no racks, so it removes none."""
    last = known[-1] if known else None
    is_same = last is not None and new.topic in (last.topic, replace(last.topic, racks=None))
    if last is not None and is_same and (new.exceeded, new.proved) == (last.exceeded, last.proved):
        known[-1] = replace(last, last_time=new.last_time)
    else:
        known.append(new)


def with_topic_ids(known: Sequence[KnownTopic], logged: Sequence[str]) -> list[KnownTopic]:
    """The id for a name without one: that in the snapshots around it, which may have two; else that in the log, if
    there is only one."""
    ids = [each.topic.topic_id for each in known]
    topics: list[KnownTopic] = []
    for at, each in enumerate(known):
        own = ids[at] or id_around(ids, at, logged)
        add(topics, replace(each, topic=replace(each.topic, topic_id=own)))
    return topics


def id_around(ids: Sequence[str | None], at: int, logged: Sequence[str]) -> str | None:
    before = next((each for each in reversed(ids[:at]) if each is not None), None)
    after = next((each for each in ids[at:] if each is not None), None)
    candidates = {before, after} - {None} or set(logged)
    return candidates.pop() if len(candidates) == 1 else None


@dataclass
class Progress(PartitionProgress):
    """A row of recomputed_partitions. `verdicts`: in a task's result, counts only its own rows."""

    through_offset: int | None = None
    # Microseconds.
    through_time: int | None = None
    basis: str = ""
    # By leader epoch, the offset from which on records of lower epochs do not count.
    leader_epochs: dict[int, int] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    unnamed_topic_ids: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    # Microseconds.
    unconfirmed_through_time: int | None = None

    def add(self, other: "Progress") -> None:
        """Adds another slice of the same offsets partition. Not in place: sets may belong to the result of a task."""
        self.through_offset = latest(self.through_offset, other.through_offset)
        self.through_time = latest(self.through_time, other.through_time)
        self.topics = self.topics | other.topics
        self.unnamed_topic_ids = self.unnamed_topic_ids | other.unnamed_topic_ids
        self.verdicts = self.verdicts + other.verdicts
        self.unconfirmed_through_time = latest(self.unconfirmed_through_time, other.unconfirmed_through_time)

    @classmethod
    def from_plain(cls, row: Mapping[str, Any]) -> Self:
        epochs = {each["partition_leader_epoch"]: each["first_offset"] for each in row["leader_epochs"]}
        sets = {name: set(row[name]) for name in ("topics", "unnamed_topic_ids")}
        verdicts = Counter(dict(row["verdicts"]))
        return super().from_plain({**row, **sets, "leader_epochs": epochs, "verdicts": verdicts})

    def row(self, cluster: str) -> dict[str, Any]:
        epochs = sorted(self.leader_epochs.items())
        return super().row(cluster) | {
            "leader_epochs": [{"partition_leader_epoch": epoch, "first_offset": first} for epoch, first in epochs],
            "topics": sorted(self.topics),
            "unnamed_topic_ids": sorted(self.unnamed_topic_ids),
            "verdicts": sorted(self.verdicts.items()),
        }


@dataclass(frozen=True, kw_only=True)
class RecomputingInput(RunInput[Progress]):
    by_partition: ClassVar[tuple[str, ...]] = ("earlier", "begins", "left_out")
    facts: Facts
    # By offsets partition and leader epoch, where each leader began, from everything known of the log.
    begins: Mapping[int, Mapping[int, int]]
    # By offsets partition, groups whose coordinator reads another one.
    left_out: Mapping[int, frozenset[str]] = field(default_factory=dict)


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
