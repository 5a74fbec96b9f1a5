"""A group's newest assignment, with its topics as they are now: a rebalance would assign these."""

from collections.abc import Iterator
from dataclasses import replace

from schemas.words.assignments import PartitionCountsSource
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import Latest


def at_present(latest: Latest, facts: Facts) -> Latest:
    topics = tuple(topic_now(topic, latest.record_time, facts) for topic in latest.topics)
    return replace(latest, topics=topics, counts_source=source_now(latest, facts))


def topic_now(topic: Topic, since: int | None, facts: Facts) -> Topic:
    """As snapshots show it since the assignment; or with as many partitions as records name, if they name more. The
    racks of these are unknown."""
    known = newest(topic.name, facts)
    if known is None:
        return topic
    now = known.topic if has_changed(known, topic, since) else topic
    return replace(now, partitions=known.beyond, racks=None) if known.beyond > now.partitions else now


def newest(name: str, facts: Facts) -> KnownTopic | None:
    known = facts.topics.get(name)
    return known[-1] if known else None


def has_changed(known: KnownTopic, topic: Topic, since: int | None) -> bool:
    """If the assignment has no time, only more partitions are a change for certain: topics only grow."""
    number = known.topic.partitions
    return number > topic.partitions if since is None else is_later(known, since) and number != topic.partitions


def is_later(known: KnownTopic, since: int) -> bool:
    # By the first time: the last one changes with each snapshot, and all groups would have to be computed again.
    return known.first_time > since


def source_now(latest: Latest, facts: Facts) -> PartitionCountsSource | None:
    """Snapshots after the assignment show all partitions. But if records name more, there may be still more."""
    since, known = latest.record_time, list(known_topics(latest, facts))
    if any(each is not None and each.beyond for each in known):
        return PartitionCountsSource.INFERRED
    are_later = since is not None and all(each is not None and is_later(each, since) for each in known)
    return PartitionCountsSource.SNAPSHOT if known and are_later else latest.counts_source


def known_topics(latest: Latest, facts: Facts) -> Iterator[KnownTopic | None]:
    return (newest(topic.name, facts) for topic in latest.topics if topic.name not in facts.deleted_topics)
