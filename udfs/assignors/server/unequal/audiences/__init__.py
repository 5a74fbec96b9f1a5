"""Who subscribes to what."""
