"""Replays consumer, share and streams groups."""
