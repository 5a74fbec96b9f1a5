"""Unusual commits."""
