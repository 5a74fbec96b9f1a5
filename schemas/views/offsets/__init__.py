"""Views about committed offsets and lag."""
