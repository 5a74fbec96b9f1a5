"""What keeps the members of a group from the consumer protocol (KIP-848) or from a cooperative assignor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.words.assignments import Readiness
from schemas.words.client_libraries import WITHOUT_CONSUMER_PROTOCOL
from schemas.words.upgrades import BlockerKind
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades.cooperative_migrations import CONSUMERS, OWNED_SINCE
from udfs.audit.upgrades.member_records import ClassicMemberSummary, ClassicValueSummary, ConsumerMember
from udfs.groups.readers.client_libraries import ANY_LIBRARY, Named, named

# Assignors of Kafka's own clients. Any other may do what no assignor of the broker does.
BUILT_IN = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})
OTHER_TYPES = {
    "connect": "Kafka Connect workers support only the classic protocol",
    "sr": "Schema Registry uses the group only to elect its primary",
}
STREAMS = "stream"
# By version of the subscription. Version 3 came with 3.4, before the consumer protocol: a client with an older version
# cannot have that.
CLIENTS_OF = {
    0: "Java clients before 2.4 and of kafka-python and aiokafka",
    1: "Java clients from 2.4 to 3.3 and of Sarama",
    2: "Sarama and of development builds before 3.4",
}
# Values of group.consumer.migration.policy with which a group with members may be converted.
TURNING = frozenset({"upgrade", "bidirectional"})
INCONCLUSIVE = frozenset({BlockerKind.UNREADABLE_SUBSCRIPTION, BlockerKind.TURNED_BACK, BlockerKind.NO_PROGRESS})


@dataclass(frozen=True)
class Blocker:
    """`member_id` None: it is about the whole group."""

    kind: BlockerKind
    member_id: str | None
    detail: str


def readiness(blockers: Sequence[Blocker]) -> Readiness:
    kinds = {blocker.kind for blocker in blockers}
    if kinds - INCONCLUSIVE:
        return Readiness.BLOCKED
    return Readiness.UNKNOWN if kinds else Readiness.READY


def against_consumer_protocol(group_id: str, value: ClassicValueSummary, facts: Facts) -> Iterator[Blocker]:
    """For a classic group with members."""
    if value.protocol_type != CONSUMERS:
        why = OTHER_TYPES.get(value.protocol_type, "only groups of consumers can change to the consumer protocol")
        yield Blocker(BlockerKind.OTHER_PROTOCOL_TYPE, None, f"protocol type {value.protocol_type}: {why}")
        return
    if value.protocol == STREAMS:
        yield Blocker(BlockerKind.STREAMS, None, "Kafka Streams: it has a protocol of its own, group.protocol=streams")
    elif value.protocol not in BUILT_IN:
        yield Blocker(
            BlockerKind.CUSTOM_ASSIGNOR,
            None,
            f"assignor {value.protocol}: the broker's assignors do not do what it does",
        )
    if facts.migration_policy is not None and facts.migration_policy not in TURNING:
        line = (
            f"group.consumer.migration.policy is {facts.migration_policy}: the group can change only while it "
            "has no members"
        )
        yield Blocker(BlockerKind.MIGRATION_POLICY, None, line)
    for member in value.members:
        if member.has_assigned_data:
            line = "its assignment carries user data: the coordinator refuses to convert the group online"
            yield Blocker(BlockerKind.ASSIGNED_USER_DATA, member.member_id, line)
        if member.version is None:
            yield Blocker(BlockerKind.UNREADABLE_SUBSCRIPTION, member.member_id, "its subscription cannot be read")
        library = named(member.libraries, group_id, member.client_id)
        yield from against_client(member.member_id, library, member.version)


def against_classic_members(group_id: str, members: Mapping[str, ConsumerMember]) -> Iterator[Blocker]:
    """For a consumer group in which some members still use the classic protocol."""
    for member_id, member in members.items():
        if member.versions:
            library = named(int(ANY_LIBRARY), group_id, member.client_id)
            yield from against_client(member_id, library, max(member.versions))


def against_client(member_id: str, named_library: Named, version: int | None) -> Iterator[Blocker]:
    library, confidence = named_library
    if library in WITHOUT_CONSUMER_PROTOCOL:
        line = f"a member of {library} ({confidence}), which does not support the consumer protocol"
        yield Blocker(BlockerKind.CLIENT_LIBRARY, member_id, line)
    elif version in CLIENTS_OF:
        line = f"subscription version {version}, of {CLIENTS_OF[version]}: they have no consumer protocol"
        yield Blocker(BlockerKind.OLD_CLIENT, member_id, line)


def against_claiming(left: Sequence[ClassicMemberSummary]) -> Iterator[Blocker]:
    """For members that should take part in cooperative rebalances."""
    for member in left:
        if member.version is not None and member.version < OWNED_SINCE:
            line = f"subscription version {member.version} cannot say what the member owns"
            yield Blocker(BlockerKind.OLD_CLIENT, member.member_id, line)
