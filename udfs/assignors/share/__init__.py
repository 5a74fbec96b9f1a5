"""Assignors of the coordinator, for share groups."""
