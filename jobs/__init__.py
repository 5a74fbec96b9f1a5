"""Everything that touches the world: Spark, files, the clock, the command line.

May import `schemas`, `udfs` and every dependency. A job imports no other job; only `jobs.audit` and the command line do.
"""
