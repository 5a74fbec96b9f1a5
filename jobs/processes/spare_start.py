"""Leaves out what a process would do for nothing while it loads its libraries."""

import gc
import os

# Objects made since the last round of Python's collector. Libraries make a hundred thousand, which live as long as the
# process: with Python's own number they would be looked at again and again.
BETWEEN_ROUNDS = 100_000
# NumPy's library for linear algebra, which nothing here uses, starts a thread for each core. It waits busily at first.
ALGEBRA_THREADS = "OPENBLAS_NUM_THREADS"


def spare_start() -> None:
    """For the whole process and those that it starts, before NumPy is loaded."""
    gc.set_threshold(BETWEEN_ROUNDS)
    os.environ.setdefault(ALGEBRA_THREADS, "1")
