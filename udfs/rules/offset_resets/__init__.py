"""Offsets that were reset or removed."""
