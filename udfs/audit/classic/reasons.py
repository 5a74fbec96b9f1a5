"""Describes in words why a generation cannot be recomputed, or differs."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from schemas.records.payloads import CONNECT, CONSUMER, SCHEMA_REGISTRY, STREAM_PROTOCOL
from udfs.assignors.groups import Numbers
from udfs.assignors.questions import LEADERS
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.librdkafka import LibraryVariant
from udfs.audit.classic.partition_counts import MOST_PARTITIONS, Counts
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import STICKY, TriedVariant
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

# Topics, partitions or members that a reason names.
MOST_TOPICS: Final = 3
FOREIGN_TYPES: Final[Mapping[str, str]] = {
    CONNECT: "Kafka Connect shares connectors and tasks among its workers, no partitions",
    SCHEMA_REGISTRY: "Schema Registry elects a primary, it shares no partitions",
}


def not_even_another(generation: Generation) -> str | None:
    """Why no assignor at all can compute an assignment for the group."""
    kind, assignor = generation.protocol_type, generation.protocol
    if kind != CONSUMER:
        return FOREIGN_TYPES.get(kind, f"protocol type {kind!r}: its assignments are not those of Kafka's consumers")
    if assignor == STREAM_PROTOCOL:
        return "Kafka Streams assigns by the lag of tasks, which is not in the log"
    if generation.repeated_member is not None:
        return f"{generation.repeated_member}: is listed twice among the members"
    return generation.unread


def why_not(generation: Generation) -> str | None:
    """Why a generation cannot be recomputed, from its record alone."""
    reason = not_even_another(generation)
    if reason is None and generation.protocol is None:
        return "the record names no assignor"
    if reason is None and generation.protocol not in LEADERS:
        return f"assignor {generation.protocol!r} is none of Kafka's"
    return reason


def impossible(generation: Generation, counts: Counts) -> str:
    if not counts.are_believed:
        at = int(generation.lower_bounds.argmax())
        return f"{generation.topics[at]}: the record names partition {generation.lower_bounds[at] - 1}, and few others"
    at = int(counts.numbers.argmax())
    count = int(counts.numbers[at])
    return f"{generation.topics[at]}: {count} partitions, more than a cluster holds ({MOST_PARTITIONS})"


def old_view(generation: Generation, counts: Counts, floor: Numbers) -> str:
    at = int(np.flatnonzero((counts.numbers < floor) & (counts.numbers > 0))[0])
    return f"the assignment is right if {knew_only(generation.topics[at], int(counts.numbers[at]), int(floor[at]))}"


def knew_only(topic: str, known: int, number: int) -> str:
    return f"the leader knew only {known} of {number} partitions of {topic}"


def stale_input(generation: Generation, counts: Counts, confirmed: Mapping[str, int]) -> str:
    """`confirmed`: by topic, how many partitions it had, where the leader took another number."""
    used = dict(zip(generation.topics, counts.numbers.tolist(), strict=True))
    texts = [stale_topic(generation, topic, used[topic], number) for topic, number in sorted(confirmed.items())]
    more = f"; {len(texts) - MOST_TOPICS} more topics" if len(texts) > MOST_TOPICS else ""
    return "; ".join(texts[:MOST_TOPICS]) + more


def stale_topic(generation: Generation, topic: str, used: int, number: int) -> str:
    if not used:
        return f"the leader assigned nothing of {topic}, which has {counted(number, 'partition')}"
    if used < number:
        return knew_only(topic, used, number)
    rows = generation.assigned
    is_beyond = (rows.topics == list(generation.topics).index(topic)) & (rows.partitions >= number)
    beyond, members = rows.partitions[is_beyond].tolist(), rows.members[is_beyond].tolist()
    names = list_names(sorted({generation.members[at] for at in members}), MOST_TOPICS)
    partitions = list_names([f"{topic}-{each}" for each in sorted(set(beyond))], MOST_TOPICS)
    gets = "gets" if len(set(members)) == 1 else "get"
    return (
        f"the leader assigned {partitions}, but {topic} has {counted(number, 'partition')}: {names} {gets} exceptions"
    )


def not_confirmed(why: str) -> str:
    """Kafka's answer for the known input differs from the record, but that input may be wrong."""
    return f"no record or snapshot confirms the inputs: {why}"


def missing_input(generation: Generation, before: Before | None, counts: Counts) -> str | None:
    """Inputs that the log does not record and that may explain the difference."""
    assignor = str(generation.protocol)
    if any(generation.racks) and assignor != "roundrobin" and lacks_racks(generation, counts):
        return "members name their racks, but racks of the partitions' replicas are unknown"
    if before is None and assignor in STICKY and any(generation.instances):
        return "a static member may have come back, and the group's previous record is not in the log"
    return None


def lacks_racks(generation: Generation, counts: Counts) -> bool:
    if counts.racks is None:
        return True
    return any(number and racks is None for number, racks in zip(counts.numbers.tolist(), counts.racks, strict=True))


def drift(generation: Generation, closest: TriedVariant) -> str:
    num_different = 0 if closest.compared is None else closest.compared.num_different
    differing = f"{counted(num_different, 'partition has', 'partitions have')} another owner"
    if isinstance(closest.variant, LibraryVariant):
        return f"librdkafka's own assignor computes another assignment: {differing}"
    text = f"no release computes this: {differing}"
    if generation.leader_at is not None and generation.versions[generation.leader_at] == 0:
        return f"{text}; its leader sends subscription version 0, so it is a client before 2.4 or of another library"
    return text
