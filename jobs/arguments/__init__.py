"""Flags: one module a command, which loads nothing that takes long, so that help and wrong usage answer at once."""
