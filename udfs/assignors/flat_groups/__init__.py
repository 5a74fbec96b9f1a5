"""Groups one after another in flat arrays, for loops that answer many in one call."""
