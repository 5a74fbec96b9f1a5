"""Reads messages of one layout into columns. Start at `columns.read_columns`."""
