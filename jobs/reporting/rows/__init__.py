"""Rows that the report shows: what it asks, and how it names things."""
