"""Topics by name and id, their numbers of partitions, and their end offsets."""
