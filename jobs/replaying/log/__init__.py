"""The part of the log that a replay reads."""
