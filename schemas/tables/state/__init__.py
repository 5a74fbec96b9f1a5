"""Tables that only the next run reads."""
