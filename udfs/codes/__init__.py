"""Codes for names and for rows of numbers, which loops compare instead of texts."""
