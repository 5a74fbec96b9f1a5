"""Takes turns: ours, the rival, ours, the rival … so that whatever else runs on the machine bothers both alike."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

WARM_UP = 2


@dataclass(frozen=True)
class Goal:
    """How many times the rival's speed we want to have."""

    at_least: float
    aim: float


@dataclass(frozen=True)
class Measured:
    """Speeds are in `unit` a second. `extra` holds what else was seen, by name."""

    name: str
    rival: str
    unit: str
    ours: float
    theirs: float
    goal: Goal
    rounds: int
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        if self.ratio < self.goal.at_least:
            return "MISSED"
        return "aim reached" if self.ratio >= self.goal.aim else "reached"


def take_turns(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int, warm_up: int = WARM_UP
) -> tuple[float, float]:
    """Median seconds of both; each call returns the seconds of one round."""
    pairs = [(ours(), theirs()) for _ in range(warm_up + rounds)][warm_up:]
    mine, other = zip(*pairs, strict=True)
    return statistics.median(mine), statistics.median(other)
