"""Targets as the coordinator makes them of records, and the order in which Java walks them."""
