"""Known defects of Kafka's assignors, found in recorded assignments."""
