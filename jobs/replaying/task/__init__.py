"""One task of a replay: its input and its result."""
