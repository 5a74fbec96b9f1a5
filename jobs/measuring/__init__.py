"""Computes lag, verdicts and events of committed offsets from history tables, raw commits and snapshots."""
