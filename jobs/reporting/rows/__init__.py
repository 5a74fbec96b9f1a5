"""Rows that the report shows: the queries for them, and the names in them."""
