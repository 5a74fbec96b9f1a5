"""A group at one time."""
