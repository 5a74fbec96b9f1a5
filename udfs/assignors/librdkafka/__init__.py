"""librdkafka's own assignors. They have the names of Kafka's, and other rules."""
