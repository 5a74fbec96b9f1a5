"""Sets of partitions in changed maps: what was done to each, and the order in which Java walks them."""
