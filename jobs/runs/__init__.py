"""What all runs have in common: options, an id, one manifest, one row of `runs`, one result."""
