"""Views about the gate."""
