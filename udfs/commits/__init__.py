"""Commits of an offsets partition: when each offset was in effect, transactions, and commits that a group needs."""
