"""Views about groups and their rebalances."""
