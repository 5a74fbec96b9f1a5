"""Bytes of a log: entries, checksums, compression, and the next entry after damage."""
