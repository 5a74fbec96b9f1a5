"""The language in which records are declared."""
