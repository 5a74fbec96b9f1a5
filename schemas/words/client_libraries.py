"""Client libraries that members of groups use."""

from collections.abc import Mapping

from schemas.words.meanings import Meant


class ClientLibrary(Meant):
    """Names as the libraries' projects write them. Bindings of librdkafka are librdkafka."""

    JAVA = "java", "Kafka's own client. Kafka Streams and Connect use it too."
    LIBRDKAFKA = "librdkafka", "librdkafka, also in confluent-kafka for Python, Go and .NET, and in node-rdkafka."
    KAFKA_PYTHON = "kafka-python", "kafka-python."
    AIOKAFKA = "aiokafka", "aiokafka, which began as a copy of kafka-python's consumer."
    SARAMA = "sarama", "Sarama, for Go."
    FRANZ_GO = "franz-go", "franz-go, for Go."
    KAFKAJS = "kafkajs", "KafkaJS."


WITHOUT_CONSUMER_PROTOCOL = frozenset(
    {ClientLibrary.KAFKA_PYTHON, ClientLibrary.AIOKAFKA, ClientLibrary.SARAMA, ClientLibrary.KAFKAJS}
)

MEMBER_ID_ORDER = "orders all members by member id, where Kafka's has static members first"
OWN_STICKY = "is an algorithm of its own"
OLDER_STICKY = "is Java's algorithm of before 2.5"
# How the assignor of a library differs from Kafka's of the same name. Those of kafka-python 3.0, aiokafka,
# Sarama 1.61 and franz-go 1.22.
DIFFERENCES: Mapping[tuple[ClientLibrary, str], str] = {
    (
        ClientLibrary.LIBRDKAFKA,
        "range",
    ): "looks at racks in its own way, and has no order of static beside other members",
    (ClientLibrary.LIBRDKAFKA, "roundrobin"): "has no order of static beside other members",
    (ClientLibrary.LIBRDKAFKA, "cooperative-sticky"): OWN_STICKY,
    (ClientLibrary.KAFKA_PYTHON, "range"): "loses members if static and other members alternate",
    (ClientLibrary.KAFKA_PYTHON, "roundrobin"): "loses members if static and other members alternate, and fails if it "
    "must pass over a member",
    (ClientLibrary.KAFKA_PYTHON, "sticky"): OLDER_STICKY,
    (ClientLibrary.KAFKA_PYTHON, "cooperative-sticky"): f"{OLDER_STICKY}, and knows no generations",
    (ClientLibrary.AIOKAFKA, "range"): MEMBER_ID_ORDER,
    (ClientLibrary.AIOKAFKA, "roundrobin"): MEMBER_ID_ORDER,
    (ClientLibrary.AIOKAFKA, "sticky"): OLDER_STICKY,
    (ClientLibrary.SARAMA, "range"): MEMBER_ID_ORDER,
    (ClientLibrary.SARAMA, "roundrobin"): f"{MEMBER_ID_ORDER}, and partition 10 before partition 2",
    (ClientLibrary.SARAMA, "sticky"): OWN_STICKY,
    (ClientLibrary.SARAMA, "cooperative-sticky"): OWN_STICKY,
    (ClientLibrary.FRANZ_GO, "range"): "looks only at the rack of each partition's leader, where Kafka's looks at all "
    "replicas",
    (ClientLibrary.FRANZ_GO, "sticky"): OWN_STICKY,
    (ClientLibrary.FRANZ_GO, "cooperative-sticky"): OWN_STICKY,
}
