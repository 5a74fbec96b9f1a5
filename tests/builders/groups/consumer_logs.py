"""Logs of consumer groups with one member and with two."""

from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    epoch,
    owns,
    target,
    waits,
)

# Columns of intervals of states.
STATES = ("state", "generation_or_epoch", "from_time", "to_time")
FIRST = (about("a"), epoch(2), target("a", 0, 1), completed(2), owns("a", 2, 0, 1, previous=0))


def of_one() -> Log:
    log = Log()
    log.write(0, *FIRST)
    return log


def of_two() -> Log:
    """`a` gives partition 1 up for `b`."""
    log = of_one()
    log.write(100, about("b"), epoch(3), target("a", 0), target("b", 1), completed(3), waits("b", 3, previous=0))
    log.write(200, owns("a", 2, 0, revoking=[1]))
    log.write(300, owns("a", 3, 0, previous=2))
    log.write(450, owns("b", 3, 1))
    return log
