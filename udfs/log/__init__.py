"""Which offsets of an offsets partition are known, and which of their records count."""
