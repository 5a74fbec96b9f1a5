"""What may stand against a group's upgrade, each with what it means."""

from schemas.words.meanings import Meant


class BlockerKind(Meant):
    OTHER_PROTOCOL_TYPE = "other_protocol_type", "Not a group of consumers: Connect, the Schema Registry or others."
    STREAMS = "streams", "Kafka Streams assigns tasks and has its own protocol."
    CUSTOM_ASSIGNOR = "custom_assignor", "An assignor that is not Kafka's own; the broker has none that does the same."
    ASSIGNED_USER_DATA = (
        "assigned_user_data",
        "Assignments have user data: the coordinator refuses to convert the group while it has members.",
    )
    MIGRATION_POLICY = (
        "migration_policy",
        "The broker's setting group.consumer.migration.policy does not let a group change while it has members.",
    )
    OLD_CLIENT = "old_client", "The version of the subscription is from clients that cannot do it."
    CLIENT_LIBRARY = "client_library", "The member looks like a client library that cannot do it. Likely, not certain."
    UNREADABLE_SUBSCRIPTION = "unreadable_subscription", "The member's subscription cannot be read."
    TURNED_BACK = "turned_back", "The group returned to what it had before."
    NO_PROGRESS = "no_progress", "Generations follow each other and no member changes."
