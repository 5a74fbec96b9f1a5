"""One task of a replay: what it is given, and what it returns."""
