"""Pure functions over NumPy arrays and Arrow batches: no Spark, no file, no clock, no randomness.

May import `schemas`, never `jobs`.
"""
