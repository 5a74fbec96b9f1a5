"""Why a group cannot use an assignor, and what an answer about it cannot take into account."""

from collections.abc import Iterator

from schemas.words.assignments import PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.questions import MOST_PARTITIONS, GroupProtocol
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.sentences.name_lists import list_names

# From this version on, a subscription can say what the member owns. Clients up to 2.3 and kafka-python write 0.
OWNED_SINCE = 1
# Assignors that look at racks: the leader's assignors since 3.5, except roundrobin.
LOOK_AT_RACKS = frozenset({"range", "sticky", "cooperative-sticky"})
MOST_NAMED = 3


def why_impossible(latest: Latest) -> str | None:
    """For any assignor. A log may contain what no client or broker writes."""
    if latest.group_type == GroupType.STREAMS:
        return "a streams group: its assignor gives tasks, not partitions"
    if latest.reason is not None:
        return latest.reason
    if not latest.members:
        return "no members"
    if (count := sum(topic.partitions for topic in latest.topics)) > MOST_PARTITIONS:
        return f"topics of {count} partitions together, more than a cluster can hold"
    met: set[str] = set()
    for member in latest.members:
        if member.member_id in met:
            return f"member {member.member_id} is in the group twice"
        met.add(member.member_id)
        for topic, partitions in member.owned:
            if min(partitions, default=0) < 0:
                return (
                    f"member {member.member_id} owns partition {min(partitions)} of {topic}; a partition number "
                    "cannot be negative"
                )
    return None


def why_refused(latest: Latest, protocol: GroupProtocol, assignor: str) -> str | None:
    """For this assignor, if others are possible."""
    old = [
        member.member_id
        for member, version in zip(latest.members, latest.subscription_versions, strict=False)
        if version is not None and version < OWNED_SINCE
    ]
    if old and assignor == "cooperative-sticky":
        return f"subscription version 0 cannot say what a member owns: {member_list(old)}"
    if old and protocol == GroupProtocol.CONSUMER:
        return f"subscription version 0 is of clients without the consumer protocol: {member_list(old)}"
    return None


def member_list(members: list[str]) -> str:
    return list_names(members, MOST_NAMED)


def left_out(latest: Latest, facts: Facts, protocol: GroupProtocol, assignor: str) -> Iterator[str]:
    if latest.counts_source in (None, PartitionCountsSource.INFERRED):
        yield "partitions beyond the highest one that records name are not known"
    is_of_leader = protocol == GroupProtocol.CLASSIC
    has_racks = any(member.rack_id for member in latest.members)
    if is_of_leader and assignor in LOOK_AT_RACKS and has_racks and any(t.racks is None for t in latest.topics):
        yield "racks of the partitions' replicas are unknown; computed without racks, so Kafka's result may differ"
    if not is_of_leader and any(t.topic_id is None and known_id(t.name, facts) is None for t in latest.topics):
        yield "topic ids are unknown: their order decides assignments, so Kafka's real choice may differ"


def known_id(name: str, facts: Facts) -> str | None:
    known = (each.topic.topic_id for each in reversed(facts.topics.get(name, ())))
    return next((topic_id for topic_id in known if topic_id is not None), None)
