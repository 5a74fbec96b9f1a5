"""Which offsets of an offsets partition are known and count."""
