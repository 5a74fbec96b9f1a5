"""Imports what tasks need before workers are forked from this process. Pandas is kept out: no task needs it."""

from jobs.processes.no_pandas import keep_pandas_out
from jobs.processes.spare_start import spare_start

keep_pandas_out()
spare_start()
