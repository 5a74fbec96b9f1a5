"""Topics by name and id, as records and snapshots name them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from schemas.words.history import Confidence, TopicSource
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.texts import listed

Key = tuple[str, str | None]
# The most reliable first.
SURENESS: list[str] = [*TopicSource]


@dataclass
class Sighting:
    """A topic, from the first record that names it to the last. Times are microseconds."""

    topic: str
    topic_id: str | None
    source: str
    from_time: int | None
    to_time: int | None
    num_partitions: int | None = None
    confidence: str = Confidence.CERTAIN

    @property
    def key(self) -> Key:
        return self.topic, self.topic_id

    def add(self, other: "Sighting") -> None:
        """Adds a later one of the same topic."""
        is_newer = other.to_time is not None and (self.to_time is None or other.to_time >= self.to_time)
        if other.num_partitions is not None and (is_newer or self.num_partitions is None):
            self.num_partitions = other.num_partitions
        self.from_time = least(self.from_time, other.from_time)
        self.to_time = most(self.to_time, other.to_time)
        self.source = min(self.source, other.source, key=SURENESS.index)
        if Confidence.CERTAIN in (self.confidence, other.confidence):
            self.confidence = Confidence.CERTAIN


def least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def sightings_of(topics: pa.Table) -> list[Sighting]:
    """From `NamedTopics.table` of commits."""
    seen = topics.group_by(["topic", "topic_id"], use_threads=False).aggregate(
        [("first_time", "min"), ("last_time", "max")]
    )
    names = (listed(seen.column(name)) for name in ("topic", "topic_id"))
    times = (seen.column(name).to_pylist() for name in ("first_time_min", "last_time_max"))
    return [Sighting(topic, of, TopicSource.COMMIT, *span) for topic, of, *span in zip(*names, *times, strict=True)]


def of_groups(rows: pa.Table) -> list[Sighting]:
    """From the few rows of group_partition_metadata. Share state of topics that the coordinator does not know has the
    name `<UNKNOWN>`."""
    sightings: dict[Key, Sighting] = {}
    times = rows.column("record_time").cast(pa.int64()).to_pylist()
    for time, topics in zip(times, rows.column("topics").to_pylist(), strict=True):
        for each in topics or ():
            name, topic_id = each["topic_name"], each["topic_id"]
            if name and topic_id and name != "<UNKNOWN>":
                source = TopicSource.RECORD
                merge(
                    sightings,
                    [
                        Sighting(
                            topic=name,
                            topic_id=topic_id,
                            source=source,
                            from_time=time,
                            to_time=time,
                            num_partitions=each["num_partitions"],
                        )
                    ],
                )
    return list(sightings.values())


def merge(into: dict[Key, Sighting], others: Iterable[Sighting]) -> None:
    for other in others:
        if other.key in into:
            into[other.key].add(other)
        else:
            into[other.key] = Sighting(**vars(other))


def names_of(sightings: Iterable[Sighting]) -> dict[str, str]:
    """Names by topic id. If sources disagree, the alphabetically first name is taken, in any order of sources."""
    names: dict[str, str] = {}
    for each in sightings:
        if each.topic_id is not None:
            names[each.topic_id] = min(each.topic, names.get(each.topic_id, each.topic))
    return names


@dataclass(frozen=True)
class SnapshotSighting:
    """A topic in the newest snapshot that lists it, and in the newest that has its id."""

    time: int
    topic_id: str | None = None
    id_time: int = 0


@dataclass(frozen=True)
class Snapshots:
    """Topics by time of capture: number of partitions by name and id."""

    topics: Mapping[int, Mapping[Key, int]]

    def sightings(self) -> list[Sighting]:
        sightings: dict[Key, Sighting] = {}
        for time in sorted(self.topics):
            merge(sightings, (Sighting(*key, TopicSource.SNAPSHOT, time, time, number) for key, number in
                          self.topics[time].items()))  # fmt: skip
        return list(sightings.values())

    @cached_property
    def of_all(self) -> frozenset[int]:
        """Times of the snapshots that list all topics. A snapshot without the offsets topic lists only some, so a
        missing topic is not deleted."""
        listed = ((time, {name for name, _ in topics}) for time, topics in self.topics.items())
        return frozenset(time for time, names in listed if OFFSETS_TOPIC in names)

    def absent_since(self, key: Key) -> tuple[int, int] | None:
        """The last snapshot with the topic and the next one without it. None: the newest has it, or no snapshot has."""
        having = [time for time, topics in self.topics.items() if key in topics]
        later = [time for time in self.of_all if having and time > max(having)]
        return (max(having), min(later)) if later else None

    def deletions(self) -> list[tuple[str, int, int]]:
        """Deleted topics, each with the two snapshots between which it was deleted; also topics that came back with
        another id."""
        deletions = []
        seen: dict[str, SnapshotSighting] = {}
        for time in sorted(self.topics):
            there = dict(self.topics[time].keys())
            for name, topic_id in there.items():
                before = seen.get(name)
                # If only one of both snapshots has an id for the name, it may be the same topic.
                if topic_id is None:
                    seen[name] = SnapshotSighting(time) if before is None else replace(before, time=time)
                    continue
                if before is not None and before.topic_id not in (None, topic_id):
                    deletions.append((name, before.id_time, time))
                seen[name] = SnapshotSighting(time, topic_id, time)
            if time in self.of_all:
                deletions += [(name, gone.time, time) for name, gone in seen.items() if name not in there]
                seen = {name: each for name, each in seen.items() if name in there}
        return sorted(set(deletions))


def add_unidentified(sightings: Iterable[Sighting]) -> None:
    """Information about a name without an id is given to the topic with this name, if there is exactly one."""
    by_name: dict[str, list[Sighting]] = {}
    for each in sightings:
        by_name.setdefault(each.topic, []).append(each)
    for same in by_name.values():
        with_id = [each for each in same if each.topic_id is not None]
        for each in same:
            if each.topic_id is None and len(with_id) == 1:
                (one,) = with_id
                source, confidence = one.source, one.confidence
                one.add(each)
                one.source, one.confidence = source, confidence


def topic_rows(cluster: str, sightings: Iterable[Sighting], snapshots: Snapshots) -> list[dict[str, Any]]:
    """Rows of table `topics`. A row has no id only if no source has an id for the name."""
    by_key: dict[Key, Sighting] = {}
    merge(by_key, [*sightings, *snapshots.sightings()])
    with_id = {each.topic for each in by_key.values() if each.topic_id is not None}
    named = [each for each in by_key.values() if each.topic_id is not None or each.topic not in with_id]
    add_unidentified(by_key.values())
    newest: dict[str, Sighting] = {}
    for each in sorted(named, key=lambda each: (each.from_time or 0, each.topic_id or "")):
        newest[each.topic] = each
    rows = []
    for each in sorted(named, key=lambda each: (each.topic, each.topic_id or "")):
        absent = snapshots.absent_since(each.key)
        is_gone = newest[each.topic] is not each or (absent is not None and (each.to_time or 0) < absent[1])
        rows.append(
            {
                "cluster": cluster,
                "topic": each.topic,
                "topic_id": each.topic_id,
                "from_time": each.from_time,
                "to_time": each.to_time if is_gone else None,
                "is_provisional": not is_gone,
                "num_partitions": each.num_partitions,
                "source": each.source,
                "confidence": each.confidence,
            }
        )
    return rows
