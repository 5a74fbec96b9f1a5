"""Counts, names and durations in words, and suggestions for mistyped words."""
