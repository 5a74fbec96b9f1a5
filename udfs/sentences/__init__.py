"""Counts, names and durations in words."""
