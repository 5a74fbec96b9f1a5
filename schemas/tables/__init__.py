"""Specifications of tables: columns, keys, comments."""
