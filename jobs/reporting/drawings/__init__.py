"""Drawings: pure functions from rows to SVG. Each stands beside its rows, which say the same in text."""
