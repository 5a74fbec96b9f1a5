"""What a failed task of Spark says, on one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from jobs.failure import Failure
from schemas.exit_codes import ExitCode

# How lines of a trace begin that tell where, not why.
NO_CAUSE = ("at ", "File ", "...", "JVM stacktrace", "Driver stacktrace")


@contextmanager
def failures_told() -> Iterator[None]:
    """What Spark says of a failed task is pages long."""
    try:
        yield
    except Exception as error:
        # A worker that died comes as an error of py4j, which pyspark does not wrap.
        if not isinstance(error, PySparkException) and not hasattr(error, "java_exception"):
            raise
        told = f"a task failed, please report it: {cause_of(str(error))} (--debug shows where)"
        raise Failure(ExitCode.FAILED, told) from error


def cause_of(text: str) -> str:
    """The line that tells why: what a lost task died of, else the last line of a Python trace."""
    lost = re.search(r"Lost task .*?: \S*Exception: (?P<cause>.*)", text)
    if lost and "Traceback" not in text:
        return lost["cause"].strip(" :")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if not line.startswith(NO_CAUSE)), "no reason given")
