"""Spark on executors starts this module instead of its own for each worker, whose tasks then lose their executor at
files that a test has ordered. Spark takes only modules whose names begin like this."""

import os
import signal
from functools import cache
from pathlib import Path

# Files of the first folder are named like folders of tables, and hold two words of `killed_executors.py`. Those of the
# second one name the file at which that was done.
ORDERS, LEFT = (Path(__file__).with_name(name) for name in ("orders", "left"))
HALF, WHOLE = "half", "whole"
GOES_ON = "goes on"


def main(infile, outfile):
    # Here: its threads must begin in this process, not in the one that forks workers.
    from pyspark import worker

    lose_executors_at_files()
    worker.main(infile, outfile)


@cache
def lose_executors_at_files():
    """Once: Spark uses a worker again for the next task."""
    import pyarrow.parquet as pq

    close = pq.ParquetWriter.close

    def close_or_die(writer):
        order = taken(Path(writer.where)) if writer.is_open else ()
        if order:
            # A worker that goes on has no executor to lose.
            pq.ParquetWriter.close = close
        if HALF in order:
            lose_executor(order)
        close(writer)
        if WHOLE in order:
            lose_executor(order)

    pq.ParquetWriter.close = close_or_die


def taken(file):
    """Only once: the next attempt shall write its file."""
    order = ORDERS / file.parent.name
    try:
        words = order.read_text()
        order.unlink()
    except FileNotFoundError:
        return ()
    (LEFT / order.name).write_text(str(file))
    return tuple(words.split(", "))


def lose_executor(order):
    """Above this process are Spark's daemon and Java."""
    if GOES_ON in order:
        # As on a host that nobody hears any more: the daemon would end it.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
    if GOES_ON not in order:
        os.kill(os.getpid(), signal.SIGKILL)
