"""Functions for your own Spark jobs: one answers a line of `groupscope assign`, one decodes a record as `groupscope
dump` does.

    from jobs.functions import register

    functions = register(spark)
    rows.select(functions.decode_offsets_record("key", "value"))
    spark.sql("SELECT kafka_assign(spec) FROM questions")

Executors need only the zip of `make dist` (--py-files) and the locked packages. See docs/functions.md.
"""

from jobs.spark.functions import Functions, register

__all__ = ["Functions", "register"]
