"""Compares recorded assignments with recomputed ones."""
