"""Keeps start-up messages of Java and Spark off standard error, which is for messages that users can act on."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.output.failure import Failure, quiet_interrupts
from jobs.output.terminal import LIVE

STANDARD_ERROR = 2
SHOWN_BYTES = 4096


@contextmanager
def quiet_java(is_debug: bool) -> Iterator[None]:
    """A Java that starts in here writes its standard error into a file without a name, for as long as it lives.

    When it does not start, the end of what it said is shown. A Java that runs already is not touched. Interrupts end
    the run without a trace from then on.
    """
    if is_debug:
        yield
        return
    sys.stderr.flush()
    kept = LIVE.descriptor = os.dup(STANDARD_ERROR)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), STANDARD_ERROR)
        try:
            with quiet_interrupts():
                yield
        except Failure:
            # Says by itself what is wrong.
            raise
        except Exception:
            said.seek(max(0, said.seek(0, os.SEEK_END) - SHOWN_BYTES))
            os.write(kept, said.read())
            raise
        finally:
            LIVE.descriptor = STANDARD_ERROR
            os.dup2(kept, STANDARD_ERROR)
            os.close(kept)


def keep_errors_to_us() -> None:
    """PySpark logs each exception with its stack trace besides raising it."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
