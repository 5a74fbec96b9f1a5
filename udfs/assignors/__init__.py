"""Kafka's assignors over arrays. Start at `registry`; each answer equals Kafka's own."""
