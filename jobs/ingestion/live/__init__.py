"""Reads the log of a live cluster."""
