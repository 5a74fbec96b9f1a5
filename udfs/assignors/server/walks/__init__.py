"""What the coordinator's assignors walk before they assign."""
