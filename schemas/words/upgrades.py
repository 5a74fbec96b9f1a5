"""What may stand against a group's upgrade, each with what it means."""

from schemas.words.meanings import Meant


class BlockerKind(Meant):
    OTHER_PROTOCOL_TYPE = "other_protocol_type", "The group is none of consumers: Connect, the schema registry, others."
    STREAMS = "streams", "Kafka Streams assigns tasks, and has a protocol of its own."
    CUSTOM_ASSIGNOR = "custom_assignor", "An assignor that Kafka does not bring: the broker's do not do what it does."
    ASSIGNED_USER_DATA = "assigned_user_data", "Assignments carry user data: the coordinator refuses to convert online."
    MIGRATION_POLICY = "migration_policy", "The broker's setting lets no group turn while it has members."
    OLD_CLIENT = "old_client", "The version of the subscription is of clients that cannot do it."
    CLIENT_LIBRARY = "client_library", "By its habits, a client library that cannot do it: likely, not certain."
    UNREADABLE_SUBSCRIPTION = "unreadable_subscription", "What the member said as it joined cannot be read."
    TURNED_BACK = "turned_back", "The group returned to what it had before."
    NO_PROGRESS = "no_progress", "Rounds go by and no member changes."
