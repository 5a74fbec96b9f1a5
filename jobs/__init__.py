"""Everything that uses Spark, files, the clock or the command line.

This package may import `schemas`, `udfs` and every dependency. No job imports another, except `jobs.audit` and the
command line.
"""
