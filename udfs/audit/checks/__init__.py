"""Checks of one assignment: its facts, comparison with the recomputed one, invariants, moves."""
