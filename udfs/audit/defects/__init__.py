"""Known defects of Kafka's assignors, coordinators and clients, found in recorded assignments. Start at `registry`."""
