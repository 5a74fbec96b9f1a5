"""Copies of finished warehouses in which names are keyed hashes and raw bytes are NULL."""
