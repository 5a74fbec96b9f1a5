"""Turns decoded records into rows of the warehouse's tables. Start at `shape.Shaper`."""
