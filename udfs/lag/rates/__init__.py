"""Rates of groups and topics in buckets of time, rows of consumption_rates. Start at `rates`."""
