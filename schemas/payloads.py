"""What clients put into the opaque bytes of a classic group's members, by protocol; brokers store it without looking.
Its layouts are in `records/payloads.json`."""

from schemas.records import MESSAGES

CONSUMER, CONNECT, SCHEMA_REGISTRY = "consumer", "connect", "sr"
STREAM_PROTOCOL, STICKY_PROTOCOL, COOPERATIVE_STICKY_PROTOCOL = "stream", "sticky", "cooperative-sticky"

SUBSCRIPTION, ASSIGNMENT = MESSAGES["ConsumerProtocolSubscription"], MESSAGES["ConsumerProtocolAssignment"]

# User data of the sticky assignors has no version: the right form is the one that consumes every byte.
STICKY_FORMS = MESSAGES["StickyUserData"].shapes
COOPERATIVE_STICKY_FORMS = MESSAGES["CooperativeStickyUserData"].shapes
KAFKA_PYTHON_VERSION = 1

# Kafka Streams as a classic group.
STREAMS_SUBSCRIPTION, STREAMS_ASSIGNMENT = MESSAGES["SubscriptionInfo"], MESSAGES["AssignmentInfo"]

CONNECT_SUBSCRIPTION, CONNECT_ASSIGNMENT = MESSAGES["WorkerState"], MESSAGES["ConnectAssignment"]
