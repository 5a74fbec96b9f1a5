"""Which members of a topic have most and fewest partitions, in turn."""
