"""Client libraries that members of groups use."""

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
