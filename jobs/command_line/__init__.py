"""One table of commands and flags, and the values that people type."""
