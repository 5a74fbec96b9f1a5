"""Imported last by the server that workers are forked from: loads the compiled loops of what it has imported, once for
all workers."""

from jobs.spark.compiled_loops import load_compiled_loops

load_compiled_loops()
