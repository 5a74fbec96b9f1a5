"""In which order processes that run tests side by side take the files.

What takes long comes first, so that all processes end together. Spark needs a core, a broker mostly waits: files of
the two take turns, so that one process waits while the other computes. `--no-loadscope-reorder` has pytest-xdist keep
this order; its own begins with the files of most tests, which are short ones.
"""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def taking_turns(files: Sequence[tuple[Item, frozenset[str]]]) -> list[Item]:
    """`files`: each with the markers of its tests."""
    brokers = [file for file, markers in files if "broker" in markers]
    sparks = [file for file, markers in files if "spark" in markers and "broker" not in markers]
    browsers = [file for file, markers in files if "browser" in markers]
    long = spread(brokers, sparks)
    long += [file for file in browsers if file not in long]
    return long + [file for file, _ in files if file not in long]


def spread(some: Sequence[Item], others: Sequence[Item]) -> list[Item]:
    """Both in their order, the fewer ones at even distances."""
    placed = [((number + 0.5) / len(each), file) for each in (some, others) for number, file in enumerate(each)]
    return [file for _, file in sorted(placed, key=lambda at: at[0])]
