"""Partitions that members share: who gives some up, and who gets more."""
