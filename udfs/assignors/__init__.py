"""Kafka's assignors, a module each family, and those of older releases, where these give other assignments."""
