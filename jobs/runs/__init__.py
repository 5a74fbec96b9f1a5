"""What every run has: options, an id, one manifest, one row of `runs`, one result."""
