"""The loops of the coordinator's `range`."""
