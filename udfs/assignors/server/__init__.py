"""Assignors of the coordinator, for consumer groups."""
