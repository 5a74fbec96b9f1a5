"""Assignors that the leader of a classic group runs."""
