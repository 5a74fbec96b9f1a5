"""Flags: one module per command. These modules import nothing slow, so that help and usage errors appear at once."""
