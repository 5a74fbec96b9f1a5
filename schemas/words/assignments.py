"""The words of the tables of recomputed assignments, each with what it means."""

from schemas.words.enumerations import Meant


class AssignorSource(Meant, of="assignment_audit.assignor_source"):
    RECORD = "record: The record names it: the protocol of a classic group."
    VOTES = "votes: Most members of the group ask for it."
    DEFAULT = "default: No member asks for one: it is the first of the broker's list."
    INFERRED = "inferred: No record names it. Of Kafka's assignors, this one gives the recorded assignment."


class Algorithm(Meant, of="assignment_audit.algorithm"):
    """Which of an assignor's ways, by the names of Kafka's own code where it has any."""

    PLAIN = "plain: Of range and roundrobin: the algorithm that does not look at racks."
    RACK_AWARE = "rack_aware: Of range: partitions go first to members that have a replica in their rack."
    CONSTRAINED = "constrained: Of sticky and cooperative-sticky: all members subscribe to the same topics."
    GENERAL = "general: Of sticky and cooperative-sticky: subscriptions differ, or the release has only this algorithm."
    HOMOGENEOUS = "homogeneous: Of an assignor in the broker: all members subscribe to the same topics."
    HETEROGENEOUS = "heterogeneous: Of an assignor in the broker: subscriptions differ."


class Verdict(Meant, of="assignment_audit.verdict"):
    SAME = """same: Kafka's assignor, or librdkafka's, gives the same assignment, in the same order of each member's
        partitions; the inputs are confirmed."""
    SAME_MEMBERS_OTHER_ORDER = """same_members_other_order: Kafka's assignor, or librdkafka's, gives each member the
        same partitions, in another order; the inputs are confirmed."""
    SAME_UNCONFIRMED = """same_unconfirmed: The assignor gives the same, but only for topics or numbers of partitions
        that no record or snapshot confirms: see the reason."""
    STALE_INPUT = """stale_input: The assignor gives the same only for input that snapshots before and after contradict:
        the leader left out a topic or partitions that exist, or assigned partitions that do not exist."""
    DRIFT = """drift: Kafka's assignor gives another assignment, in every variant (release, Java version, …); the inputs
        are confirmed."""
    CARRIED_OVER = """carried_over: No assignor ran: a static member returned, or the group changed its protocol and
        kept all assignments."""
    NOT_RECOMPUTABLE = "not_recomputable: An input is missing, or the assignor is not known: see the reason."


# What rests on inputs that the log or snapshots confirm.
CONFIRMED = (Verdict.SAME, Verdict.SAME_MEMBERS_OTHER_ORDER, Verdict.DRIFT, Verdict.STALE_INPUT)


class AuditReason(Meant, of="assignment_audit.reason"):
    """Reasons that are words. All others are sentences."""

    OTHER_LIBRARY = """other_library: The leader probably uses another client library than Kafka's, and its assignor is
        not known exactly, or not for this input."""
    CUSTOM_ASSIGNOR = """custom_assignor: Another class than Kafka's bears the assignor's name: of at least three of the
        group's targets Kafka's gives none, or the brokers' setting names another class."""


class PartitionCountsSource(Meant, of="assignment_audit.partition_counts_source"):
    SNAPSHOT = "snapshot: From a snapshot of the cluster."
    RECORD = "record: From the group's own record of its topics (type 4, before 4.1)."
    METADATA_HASH = "metadata_hash: Confirmed by the hash of the topics in the group's record (from 4.1)."
    INFERRED = "inferred: One more than the highest partition that the records assign or commit."


class CheckName(Meant, of="assignment_audit.checks.name"):
    VALID = """valid: Members have only partitions that exist, of topics that they subscribe to, and no partition has
        more owners than the assignor allows."""
    COMPLETE = "complete: Every partition of a subscribed topic has an owner, or is withheld."
    WITHHELD = """withheld: Always passes, and lists partitions that the next generation assigns, after their owners
        have given them up."""
    BALANCED = """balanced: Members with equal subscriptions have equally many partitions, or one more; with range, for
        each topic."""
    COOPERATIVE_SAFE = "cooperative_safe: No partition is assigned to a member while another member still owns it."
    STATIC_ONCE = "static_once: No static instance id belongs to two members."
    OWNED_ONCE = """owned_once: Since the previous target, the records of what members own never showed two owners of a
        partition."""
    CO_PARTITIONED = "co_partitioned: Required by [[groups]]: the same member has the same partitions of these topics."
    REDUNDANT = "redundant: Required by [[groups]]: each partition has the required number of members."
    RACK_LOCAL = """rack_local: Required by [[groups]]: members that name their rack have only partitions with a replica
        in that rack."""


class Migration(Meant, of="assignor_upgrades.migration"):
    EAGER_TO_COOPERATIVE = """eager_to_cooperative: From an assignor with which all members stop at each rebalance, to
        cooperative-sticky."""
    CLASSIC_TO_CONSUMER = "classic_to_consumer: From the classic protocol to the consumer protocol (KIP-848)."
    CONSUMER_TO_CLASSIC = "consumer_to_classic: Back from the consumer protocol to the classic one."


class MigrationPhase(Meant, of="assignor_upgrades.phase"):
    NOT_STARTED = "not_started: The records show no sign of the migration."
    IN_PROGRESS = "in_progress: Some members have changed, others have not."
    STUCK = "stuck: In progress, but no member has changed for three rebalances and a day."
    TAKEN_BACK = "taken_back: The group went back to what it had before, and not every member had changed by then."
    FINISHED = "finished: Every member has changed. That the group went back later does not change this."


class Readiness(Meant, of="assignor_upgrades.readiness"):
    READY = "ready: Nothing in the records blocks the migration."
    BLOCKED = "blocked: The migration would fail, or change what the group does: see the column blockers."
    UNKNOWN = "unknown: The records do not show whether the migration can work: see the column blockers."


class BlockerKind(Meant, of="assignor_upgrades.blockers.kind"):
    """What may block a group's upgrade."""

    OTHER_PROTOCOL_TYPE = "other_protocol_type: Not a group of consumers: Connect, the Schema Registry or others."
    STREAMS = "streams: Kafka Streams assigns tasks and has its own protocol."
    CUSTOM_ASSIGNOR = """custom_assignor: The group's assignor is not one of Kafka's, and the broker has no assignor
        that does the same."""
    ASSIGNED_USER_DATA = """assigned_user_data: Assignments have user data: the coordinator refuses to convert the group
        while it has members."""
    MIGRATION_POLICY = """migration_policy: The broker's setting group.consumer.migration.policy does not let a group
        change while it has members."""
    OLD_CLIENT = "old_client: The version of the subscription shows a client that is too old for the migration."
    CLIENT_LIBRARY = """client_library: The member is likely, but not certainly, a client library that cannot use the
        consumer protocol."""
    UNREADABLE_SUBSCRIPTION = "unreadable_subscription: The member's subscription cannot be read."
    TURNED_BACK = "turned_back: The group returned to what it had before."
    NO_PROGRESS = "no_progress: No member has changed for three rebalances and a day."


class ClientLibrary(Meant, of="membership_intervals.client_library"):
    """Names as the libraries' projects write them. Bindings of librdkafka are librdkafka."""

    JAVA = "java: Kafka's own client. Kafka Streams and Connect use it too."
    LIBRDKAFKA = "librdkafka: librdkafka, also in confluent-kafka for Python, Go and .NET, and in node-rdkafka."
    KAFKA_PYTHON = "kafka-python: kafka-python."
    AIOKAFKA = "aiokafka: aiokafka, which began as a copy of kafka-python's consumer."
    SARAMA = "sarama: Sarama, for Go."
    FRANZ_GO = "franz-go: franz-go, for Go."
    KAFKAJS = "kafkajs: KafkaJS."


WITHOUT_CONSUMER_PROTOCOL = frozenset(
    {ClientLibrary.KAFKA_PYTHON, ClientLibrary.AIOKAFKA, ClientLibrary.SARAMA, ClientLibrary.KAFKAJS}
)
