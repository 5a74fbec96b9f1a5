"""The words of the tables of recomputed assignments, each with what it means."""

from schemas.words.meanings import Meant


class AssignorSource(Meant):
    RECORD = "record", "The record names it: the protocol of a classic group."
    VOTES = "votes", "Most members of the group ask for it."
    DEFAULT = "default", "Nobody asks for one: it is the broker's first."
    INFERRED = "inferred", "No record names it: of Kafka's assignors, this one gives the recorded assignment."


class Algorithm(Meant):
    """Which of an assignor's ways, by the names of Kafka's own code where it has any."""

    PLAIN = "plain", "Of range and roundrobin: the one for all inputs that need no look at racks."
    RACK_AWARE = "rack_aware", "Of range: partitions first to members that have a replica in their rack."
    CONSTRAINED = "constrained", "Of sticky and cooperative-sticky: all members subscribe to the same topics."
    GENERAL = "general", "Of sticky and cooperative-sticky: subscriptions differ, or the release knows no other way."
    HOMOGENEOUS = "homogeneous", "Of a coordinator's assignor: all members subscribe to the same topics."
    HETEROGENEOUS = "heterogeneous", "Of a coordinator's assignor: subscriptions differ."


class Verdict(Meant):
    SAME = "same", "Kafka's assignor gives exactly this, the order of each member's partitions included."
    SAME_MEMBERS_OTHER_ORDER = (
        "same_members_other_order",
        "Kafka's assignor gives each member these partitions, in another order.",
    )
    DRIFT = "drift", "Kafka's assignor gives something else, in every variant that fits what is known."
    CARRIED_OVER = (
        "carried_over",
        "No assignor ran: a static member came back, or the group changed its protocol with all assignments kept.",
    )
    NOT_RECOMPUTABLE = "not_recomputable", "An input is missing, or nobody knows the assignor: see the reason."


class PartitionCountsSource(Meant):
    SNAPSHOT = "snapshot", "From a snapshot of the cluster."
    RECORD = "record", "From the group's own record of its topics (type 4, before 4.1)."
    METADATA_HASH = "metadata_hash", "Confirmed by the hash over the topics in the group's record (from 4.1)."
    INFERRED = "inferred", "One more than the highest partition that the records assign or commit."


class CheckName(Meant):
    VALID = "valid", "Members have only partitions that exist, of topics that they subscribe to, and none too often."
    COMPLETE = "complete", "Every partition of a subscribed topic has an owner, or is withheld."
    WITHHELD = "withheld", "Partitions wait for the next generation, until their owners have let go of them."
    BALANCED = "balanced", "Members with equal subscriptions differ by one partition or none; with range, by topic."
    COOPERATIVE_SAFE = "cooperative_safe", "No partition is given to a member while another still has it."
    STATIC_ONCE = "static_once", "No static instance is two members."
    OWNED_ONCE = "owned_once", "By the members' own records, since the target before, no partition had two owners."
    CO_PARTITIONED = (
        "co_partitioned",
        "Asked for by [[groups]]: the same member has the same partitions of these topics.",
    )
    REDUNDANT = "redundant", "Asked for by [[groups]]: as many members as these have each partition."
    RACK_LOCAL = "rack_local", "Asked for by [[groups]]: members that name their rack read replicas there."


class Migration(Meant):
    EAGER_TO_COOPERATIVE = "eager_to_cooperative", "From an assignor that stops the world to cooperative-sticky."
    CLASSIC_TO_CONSUMER = "classic_to_consumer", "From the classic protocol to the consumer protocol (KIP-848)."
    CONSUMER_TO_CLASSIC = "consumer_to_classic", "Back from the consumer protocol to the classic one."


class MigrationPhase(Meant):
    NOT_STARTED = "not_started", "Nothing of it shows in the records."
    IN_PROGRESS = "in_progress", "Some members have changed, others have not."
    STUCK = "stuck", "In progress, and no member has changed for long, or one turned back."
    FINISHED = "finished", "Every member has changed."


class Readiness(Meant):
    READY = "ready", "Nothing in the records blocks it."
    BLOCKED = "blocked", "It would fail, or change what the group does: see the blockers."
    UNKNOWN = "unknown", "The records do not show it: see the blockers."
