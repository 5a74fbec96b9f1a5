"""In which order processes that run tests side by side take the files.

What takes long comes first, so that all processes end together. A broker mostly waits, other long files need a core:
the two kinds take turns, so that one process waits while another computes. `--no-loadscope-reorder` has pytest-xdist
keep this order; its own begins with the files of most tests, which are short ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WAITS = "broker"
# Of files that never ran here: a guess by their markers.
GUESSED_SECONDS = {"broker": 30.0, "spark": 30.0, "browser": 20.0}
OTHER_SECONDS = 2.0


@dataclass(frozen=True)
class File:
    name: str
    # Of all its tests.
    markers: frozenset[str]
    seconds: float | None = None


def taking_turns(files: Sequence[File]) -> list[str]:
    long_first = sorted(files, key=expected_seconds, reverse=True)
    waiting = [file for file in long_first if WAITS in file.markers]
    computing = [file for file in long_first if WAITS not in file.markers]
    placed = [*placed_by_time(waiting), *placed_by_time(computing)]
    return [file.name for _, file in sorted(placed, key=lambda pair: pair[0])]


def placed_by_time(files: Sequence[File]) -> list[tuple[float, File]]:
    """Each with the fraction of the time of all of them at which it is half done."""
    total = sum(map(expected_seconds, files))
    placed, before = [], 0.0
    for file in files:
        seconds = expected_seconds(file)
        placed.append(((before + seconds / 2) / total, file))
        before += seconds
    return placed


def expected_seconds(file: File) -> float:
    if file.seconds is not None:
        # No file is free: it starts and is reported.
        return max(file.seconds, 0.1)
    return max((GUESSED_SECONDS.get(marker, 0.0) for marker in file.markers), default=0.0) or OTHER_SECONDS
