"""Pure functions over NumPy arrays and Arrow batches: no Spark, no file, no clock, no randomness.

This package may import `schemas`, but not `jobs`.
"""
