"""Decoded records to rows of the warehouse's tables. The way in is `shape.Shaper`."""
