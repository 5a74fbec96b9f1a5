"""What may block a group's upgrade, each with what it means."""

from schemas.words.meanings import Meant


class BlockerKind(Meant):
    OTHER_PROTOCOL_TYPE = "other_protocol_type", "Not a group of consumers: Connect, the Schema Registry or others."
    STREAMS = "streams", "Kafka Streams assigns tasks and has its own protocol."
    CUSTOM_ASSIGNOR = (
        "custom_assignor",
        "The group's assignor is not one of Kafka's, and the broker has no assignor that does the same.",
    )
    ASSIGNED_USER_DATA = (
        "assigned_user_data",
        "Assignments have user data: the coordinator refuses to convert the group while it has members.",
    )
    MIGRATION_POLICY = (
        "migration_policy",
        "The broker's setting group.consumer.migration.policy does not let a group change while it has members.",
    )
    OLD_CLIENT = (
        "old_client",
        "The version of the subscription shows a client that is too old for the migration.",
    )
    CLIENT_LIBRARY = (
        "client_library",
        "The member is likely, but not certainly, a client library that cannot use the consumer protocol.",
    )
    UNREADABLE_SUBSCRIPTION = "unreadable_subscription", "The member's subscription cannot be read."
    TURNED_BACK = "turned_back", "The group returned to what it had before."
    NO_PROGRESS = "no_progress", "No member has changed for three rebalances and a day."
