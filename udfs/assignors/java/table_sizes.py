"""Sizes at which Java's hash tables change their form (java.util.HashMap)."""

from typing import Final

DEFAULT_CAPACITY: Final = 16
# A key put behind a chain of this length doubles a table of fewer than 64 buckets, whatever its load; in a larger
# one it makes a tree of the chain.
FULL_CHAIN: Final = 8
FULL_CHAIN_COMPUTED: Final = 7
SMALLEST_TREE_TABLE: Final = 64
