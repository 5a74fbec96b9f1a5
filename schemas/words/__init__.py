"""Enumerated values and their meanings."""
