"""The leader's `range` for members and replicas that name their racks."""
