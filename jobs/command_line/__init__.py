"""One table of commands and flags, the values that people type, and suggestions for mistyped words."""
