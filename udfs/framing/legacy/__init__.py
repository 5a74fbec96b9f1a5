"""Messages of the formats before Kafka 0.11."""
