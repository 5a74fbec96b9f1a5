"""Settings from a file, and checks of their values."""
