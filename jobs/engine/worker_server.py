"""Imports what tasks need before workers are forked from this process. Pandas is kept out: no task needs it."""

from jobs.processes.no_pandas import keep_pandas_out

keep_pandas_out()
