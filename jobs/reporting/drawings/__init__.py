"""Drawings: pure functions from rows to SVG. Next to each drawing are its rows, which say the same in text."""
