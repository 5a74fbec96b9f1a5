"""Views over the tables."""
