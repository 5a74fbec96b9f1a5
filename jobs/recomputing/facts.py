"""Facts for recomputing assignments that are not in the log: topics and settings from snapshots, rules from the
settings file."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.answers.deleted_topics import COLUMNS as TOPIC_ENDS
from jobs.answers.deleted_topics import deleted_topics
from jobs.answers.snapshots import ASSIGNOR_NAMES, ASSIGNORS
from jobs.configuration.settings import Settings
from jobs.output.failure import Failure, visible
from jobs.replaying.task.warehouse_state import PROGRESS, with_micros
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC, GroupType
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, GroupRule, KnownTopic
from udfs.audit.states import NewerFormat
from udfs.topics.least_partitions import NamedPartitions, merged
from udfs.topics.partition_counts import NamedCounts, named_counts

MIGRATION = "group.consumer.migration.policy"
# By setting that lists assignors, the groups whose coordinator runs them.
ASSIGNOR_SETTINGS = {ASSIGNORS: GroupType.CONSUMER, "group.share.assignors": GroupType.SHARE}
# As an entry of such a setting may name them.
KAFKAS_ASSIGNORS = frozenset(
    {*ASSIGNOR_NAMES, *ASSIGNOR_NAMES.values(), "simple", "org.apache.kafka.coordinator.group.assignor.SimpleAssignor"}
)
# Characters that no rack name has.
BETWEEN, NO_RACK, EMPTY, NOT_CAPTURED = "\x1f", "\x1e", "\x1d", "\x1c"
NOTHING_NAMED = NamedCounts()
NAMED_PARTITIONS = ["named_partitions", "proved_partitions"]
COLUMNS = ["cluster", "captured_time", "topic", "topic_id", "partition", "racks"]


def facts_of(warehouse: Warehouse, cluster: str, settings: Settings) -> Facts:
    all_settings = settings_of_snapshots(warehouse, cluster)
    current_settings = {name: value for each in all_settings for name, value in each.items()}
    first, *_ = entries(current_settings.get(ASSIGNORS, settings.broker.default_assignor))
    policy = current_settings.get(MIGRATION)
    rows, ends = warehouse.rows("topic_snapshots", COLUMNS), topic_rows(warehouse, cluster)
    logged = logged_names(ends)
    named, proved = logged_partitions(warehouse, cluster)
    counts = named_counts(named, logged)
    topics = known_topics(rows, cluster, logged, counts, named_counts(proved, logged))
    whole = whole_times(rows, cluster)
    return Facts(
        topics=topics,
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
        whole_times=whole,
        named_times=first_times(counts, topics) if whole else {},
        logged_names=logged,
        deleted_topics=deleted_topics(ends),
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


def topic_rows(warehouse: Warehouse, cluster: str) -> list[dict[str, Any]]:
    rows = warehouse.rows("topics", ["topic_id", *TOPIC_ENDS], cluster)
    return [] if rows is None else list(rows.to_pylist())


def logged_names(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Topic names by id, from the newest replay of log and snapshots. `rows`: of topics."""
    names: dict[str, str] = {}
    for name, topic_id in sorted((row["topic"], row["topic_id"]) for row in rows if row["topic_id"] is not None):
        names.setdefault(topic_id, name)
    return names


def logged_partitions(warehouse: Warehouse, cluster: str) -> tuple[list[NamedPartitions], list[NamedPartitions]]:
    """Since when records show how many partitions a topic has, in all offsets partitions, from the newest replay: by
    all records, and without what leaders of classic groups assigned."""
    rows = warehouse.rows(PROGRESS, NAMED_PARTITIONS, cluster)
    return ([], []) if rows is None else partitions_of(rows)


def partitions_of(rows: pa.Table) -> tuple[list[NamedPartitions], list[NamedPartitions]]:
    """From rows of `replayed_partitions`. Where an older release did not note them apart, all of them count."""
    every, proved = (with_micros(rows.column(name).to_pylist()) for name in NAMED_PARTITIONS)
    some = [named if own is None else own for named, own in zip(every, proved, strict=True)]
    listed: list[Any] = [every, some]
    first, second = ([[NamedPartitions(**each) for each in row] for row in of] for of in listed)
    return merged(*first), merged(*second)


def first_times(counts: NamedCounts, known: Collection[str]) -> dict[str, int]:
    """For topics in no snapshot."""
    return {name: min(each.time for each in steps) for name, steps in counts.by_name.items() if name not in known}


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
    by_name: dict[str, list[KnownTopic]] = {}
    if rows is None:
        return by_name
    ours = rows.filter(pc.equal(rows.column("cluster"), cluster))
    ours = ours.sort_by([("topic", "ascending"), ("captured_time", "ascending"), ("partition", "ascending")])
    racks, texts = coded_racks(ours.column("racks"))
    ids: dict[str, list[str]] = {}
    for logged_id, name in sorted(logged.items()):
        ids.setdefault(name, []).append(logged_id)
    before = None
    for name, time, topic_id, partitions, of_partitions in topics_by_snapshot(ours, racks):
        known = by_name.setdefault(name, [])
        now = (name, topic_id, partitions, of_partitions.tobytes())
        if now != before:
            topic = Topic(name, partitions, topic_id, racks_of(of_partitions, texts))
        judged = judge_topic(KnownTopic(topic, time, time), known, ids.get(name, ()), counts, proved or counts)
        add(known, judged)
        before = now
    return {name: with_topic_ids(known, ids.get(name, ())) for name, known in by_name.items()}


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


def topics_by_snapshot(rows: pa.Table, racks: np.ndarray) -> Iterator[tuple[str, int, str | None, int, np.ndarray]]:
    """Name, time, id, number of partitions, and by partition a code of its racks (-1 if it is not listed)."""
    if not rows.num_rows:
        return
    names = rows.column("topic").dictionary_encode().unify_dictionaries().combine_chunks()
    codes = np.asarray(names.indices.to_numpy(zero_copy_only=False))
    times = np.asarray(rows.column("captured_time").cast(pa.int64()).to_numpy())
    partitions = np.asarray(rows.column("partition").to_numpy())
    starts = np.flatnonzero(np.append(True, (np.diff(codes) != 0) | (np.diff(times) != 0)))
    ends = np.append(starts[1:], len(codes))
    ids = rows.column("topic_id").take(pa.array(starts)).to_pylist()
    for start, end, topic_id in zip(starts.tolist(), ends.tolist(), ids, strict=True):
        number = int(partitions[end - 1]) + 1
        of_partitions = np.full(number, -1, np.int32)
        of_partitions[partitions[start:end]] = racks[start:end]
        yield names.dictionary[codes[start]].as_py(), int(times[start]), topic_id, number, of_partitions


def coded_racks(column: pa.ChunkedArray) -> tuple[np.ndarray, list[tuple[str | None, ...] | None]]:
    """Millions of rows have few distinct lists: a code for each, and the list of each code."""
    lists = pa.chunked_array([join_lists(each) for each in column.chunks], pa.string())
    coded = lists.dictionary_encode().unify_dictionaries().combine_chunks()
    if not len(coded):
        return np.empty(0, np.int32), []
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False)), [
        split_racks(each) for each in coded.dictionary.to_pylist()
    ]


def join_lists(lists: pa.ListArray) -> pa.StringArray:
    """One text per list."""
    ends = np.cumsum(np.append(0, pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)))
    filled = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pc.fill_null(lists.flatten(), NO_RACK))
    is_empty = pc.equal(pc.list_value_length(lists), 0)
    texts = pc.if_else(is_empty.fill_null(False), EMPTY, pc.binary_join(filled, BETWEEN))
    return pc.if_else(lists.is_valid(), texts, NOT_CAPTURED)


def split_racks(text: str) -> tuple[str | None, ...] | None:
    if text in (NOT_CAPTURED, EMPTY):
        return None if text == NOT_CAPTURED else ()
    return tuple(None if rack == NO_RACK else rack for rack in text.split(BETWEEN))


def racks_of(
    codes: np.ndarray, texts: Sequence[tuple[str | None, ...] | None]
) -> tuple[tuple[str | None, ...], ...] | None:
    """None if no broker has a known rack."""
    of_partitions = tuple((texts[code] or ()) if code >= 0 else () for code in codes.tolist())
    return of_partitions if any(rack is not None for racks in of_partitions for rack in racks) else None


@contextmanager
def failing_if_newer() -> Iterator[None]:
    try:
        yield
    except NewerFormat as error:
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, visible(str(error))) from None
