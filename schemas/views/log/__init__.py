"""Views about the offsets topic."""
