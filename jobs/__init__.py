"""Everything that uses Spark, files, the clock or the command line.

May import `schemas`, `udfs` and every dependency. No job imports another; only `jobs.audit` and the command line do.
"""
