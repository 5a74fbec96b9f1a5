"""The process that workers are forks of loads this first: no task needs pandas."""

from jobs.no_pandas import keep_pandas_out

keep_pandas_out()
