"""Events of groups: rebalances in words and drawings."""
