"""Partitions by number, and who had them: the map of sharers of a share group."""
