"""Decoded records to lines of text. The way in is `record_lines.Writer`."""
