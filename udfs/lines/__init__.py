"""Turns decoded records into lines of text. Start at `record_lines.Writer`."""
