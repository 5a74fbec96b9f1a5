"""Assignors of older Kafka releases, where these give other assignments."""
